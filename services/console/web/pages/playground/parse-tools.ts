import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { OfferedTool } from '../../formats/conversation.ts';

/** Parses one tool or a list of tools, typed by the person in the notation of any format. */
export function parseTools(text: string): { tools: OfferedTool[]; problem?: string } {
  if (text.trim() === '') return { tools: [] };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { tools: [], problem: `This is not JSON yet: ${error.message}` };
  }
  const tools: OfferedTool[] = [];
  for (const each of Array.isArray(value) ? value : [value]) {
    const tool = isJsonObject(each) ? readTool(each) : undefined;
    if (!tool) return { tools: [], problem: 'Each tool needs a name and a schema for its input.' };
    tools.push(tool);
  }
  return { tools };
}

function readTool(value: JsonObject): OfferedTool | undefined {
  const named = isJsonObject(value['function']) ? value['function'] : value;
  const { name, description } = named;
  const schema = named['input_schema'] ?? named['inputSchema'] ?? named['parameters'] ?? { type: 'object' };
  if (typeof name !== 'string' || name === '' || !isJsonObject(schema)) return undefined;
  return { name, description: typeof description === 'string' ? description : '', inputSchema: schema };
}
