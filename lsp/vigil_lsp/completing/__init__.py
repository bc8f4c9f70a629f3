"""What can be written at a place of a policy: where that is (place, slots), what there is to say, and how it is put."""
