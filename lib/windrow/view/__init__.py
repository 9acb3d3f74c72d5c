"""What people look at: plans, tables and sentences, made from values. Nothing here reads, starts or commits."""
