"""The gate as a service: decisions for agents on many machines, and the page where people decide (docs/service.md)."""
