"""The windows of a stage that forgotten rows were in: which these are, and what other rows make of them."""
