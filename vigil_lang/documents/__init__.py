"""Skill documents and other texts that policies are drawn from: their sentences, and what these ask for."""
