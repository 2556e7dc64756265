"""Policies as other libraries know them, one library a module: ``coba``, ``river``, ``obp``, ``sklearn``.

Each module imports its library; none is imported here.
"""
