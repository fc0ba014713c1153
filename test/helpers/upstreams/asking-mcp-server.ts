import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CreateMessageResultSchema } from '@modelcontextprotocol/sdk/types.js';

/* An MCP server of the older revisions that requests an answer of a model from its client, without checking for the capability. */

const server = new McpServer({ name: 'asking', version: '1' });
server.registerTool('sample', { description: 'Asks for an answer of a model.' }, async () => {
  const message = { role: 'user' as const, content: { type: 'text' as const, text: 'hi' } };
  const params = { messages: [message], maxTokens: 1 };
  const answer = await server.server.request({ method: 'sampling/createMessage', params }, CreateMessageResultSchema);
  return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
});
await server.connect(new StdioServerTransport());
