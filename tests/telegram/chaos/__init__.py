"""Asks, people and processes, with everything going wrong that can; and a book of who was told what.

python -m tests.telegram.chaos --asks 300 --real      by hand, at Telegram's own limits
"""
