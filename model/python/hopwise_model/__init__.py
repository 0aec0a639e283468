"""Learns from request logs which transport protocol is faster on a network (WiseTrans, WWW 2021)."""
