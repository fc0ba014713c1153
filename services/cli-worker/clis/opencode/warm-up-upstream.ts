import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { startLocalUpstream, type LocalUpstream } from '../local-upstream.ts';

/**
 * Starts a local upstream for chat completions. It calls the first tool that a request offers; without tools, it answers `Hello`.
 */
export async function startWarmUpUpstream(): Promise<LocalUpstream> {
  const upstream = await startLocalUpstream(writeAnswer);
  return { ...upstream, url: `${upstream.url}/v1` };
}

function writeAnswer({ tools }: JsonObject): string {
  const [tool] = Array.isArray(tools) ? tools : [];
  const name: Json = isJsonObject(tool) && isJsonObject(tool['function']) ? (tool['function']['name'] ?? '') : '';
  const call = { index: 0, id: 'call_warm_up', type: 'function', function: { name, arguments: '{}' } };
  const delta: JsonObject = tool === undefined ? { content: 'Hello' } : { tool_calls: [call] };
  const chunk = (piece: JsonObject, finish: string | null): string =>
    JSON.stringify({
      id: 'chatcmpl-warm-up',
      object: 'chat.completion.chunk',
      created: 0,
      model: 'none',
      choices: [{ index: 0, delta: piece, finish_reason: finish }],
    });
  const finish = tool === undefined ? 'stop' : 'tool_calls';
  return [chunk({ role: 'assistant', ...delta }, null), chunk({}, finish), '[DONE]']
    .map((data) => `data: ${data}\n\n`)
    .join('');
}
