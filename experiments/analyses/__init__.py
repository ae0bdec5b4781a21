"""The paper's three analyses (appendix B), made from finished runs: no call, no second search engine to trust."""
