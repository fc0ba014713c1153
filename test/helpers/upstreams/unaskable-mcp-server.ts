import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

/* An MCP server of the older revisions that ends when anything but the handshake comes first, as servers made with the Rust SDK do. */

process.stdin.once('data', (first: Buffer) => {
  if (!first.toString().includes('"initialize"')) process.exit(1);
});
const server = new McpServer({ name: 'unaskable', version: '1' });
server.registerTool('any', {}, () => ({ content: [{ type: 'text', text: 'done' }] }));
await server.connect(new StdioServerTransport());
