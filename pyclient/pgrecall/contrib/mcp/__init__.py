"""An MCP server: memory as tools, resources and a prompt for any agent that speaks the protocol.

It needs `pip install 'pgrecall[mcp]'`, and is started by `pgrecall mcp`.
"""
