import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { ToolDescription } from '../../formats/conversation.ts';

/**
 * Parses a tool, or a list of tools, that the person has typed in the notation of any format. If the text is not valid, returns no tools,
 * and a sentence for the person in `problem`.
 */
export function parseTools(text: string): { tools: ToolDescription[]; problem?: string } {
  if (text.trim() === '') return { tools: [] };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { tools: [], problem: `This is not JSON yet: ${error.message}` };
  }
  const tools: ToolDescription[] = [];
  for (const item of Array.isArray(value) ? value : [value]) {
    const tool = isJsonObject(item) ? readTool(item) : undefined;
    if (!tool) return { tools: [], problem: 'Each tool needs a name and a schema for its input.' };
    tools.push(tool);
  }
  return { tools };
}

function readTool(value: JsonObject): ToolDescription | undefined {
  const definition = isJsonObject(value['function']) ? value['function'] : value;
  const { name, description } = definition;
  const schema = definition['input_schema'] ??
    definition['inputSchema'] ??
    definition['parameters'] ?? { type: 'object' };
  if (typeof name !== 'string' || name === '' || !isJsonObject(schema)) return undefined;
  return { name, description: typeof description === 'string' ? description : '', inputSchema: schema };
}
