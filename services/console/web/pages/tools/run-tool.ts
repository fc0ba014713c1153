import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { createCsrfHeaders, fetchSameOrigin, readFailure, type ApiFailure } from '../../api/call-api.ts';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';

/** A tool in the answer of `/api/tools/v1/list`. */
export interface ListedTool {
  name: string;
  description: string;
  inputSchema: JsonObject;
  /** The MCP server that the tool belongs to; absent for the worker's own tools. */
  server?: string;
  worker: string;
}

export interface ToolResult {
  isError: boolean;
  /** The text of the result, with blocks of other types as JSON. */
  text: string;
  /** The images of the result, as data URLs. */
  images: string[];
  structured: JsonObject | undefined;
  /** Milliseconds from the request to the result. */
  ms: number;
}

/**
 * Lists all tools of the connected workers.
 * @throws ApiFailure
 */
export async function listTools(signal: AbortSignal): Promise<ListedTool[]> {
  const response = await fetchSameOrigin('/api/tools/v1/list', { headers: createCsrfHeaders(), signal });
  if (!response.ok) throw await readFailure(response);
  const { data } = (await response.json()) as {
    data: (Omit<ListedTool, 'inputSchema'> & { input_schema: JsonObject })[];
  };
  return data.map(({ input_schema: inputSchema, ...tool }) => ({ ...tool, inputSchema }));
}

/**
 * Runs a tool. If the tool itself fails, returns its failure as a result.
 * @throws ApiFailure when the tool was not run
 */
export async function runTool(tool: string, input: unknown, signal?: AbortSignal): Promise<ToolResult> {
  const startedAt = performance.now();
  const response = await fetchSameOrigin('/api/tools/v1/execute', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...createCsrfHeaders() },
    body: JSON.stringify({ tool, input }),
    ...(signal ? { signal } : {}),
  });
  if (!response.ok) throw await readFailure(response);
  const answer = (await response.json()) as {
    is_error: boolean;
    content: JsonObject[];
    structured_content?: JsonObject;
  };
  return {
    isError: answer.is_error,
    text: answer.content.flatMap(readTexts).join('\n'),
    images: answer.content.flatMap(readImages),
    structured: isJsonObject(answer.structured_content) ? answer.structured_content : undefined,
    ms: performance.now() - startedAt,
  };
}

function readTexts(block: JsonObject): string[] {
  if (block['type'] === 'image') return [];
  return [typeof block['text'] === 'string' ? block['text'] : JSON.stringify(block, null, 2)];
}

function readImages({ type, data, mimeType }: JsonObject): string[] {
  if (type !== 'image' || typeof data !== 'string' || typeof mimeType !== 'string') return [];
  return /^image\/[\w.+-]+$/.test(mimeType) ? [`data:${mimeType};base64,${data}`] : [];
}

/** Lists all tools of the connected workers. Refreshes the list every 15 seconds. */
export function useTools(): UseQueryResult<ListedTool[], ApiFailure> {
  return useQuery({ queryKey: ['tools'], queryFn: ({ signal }) => listTools(signal), refetchInterval: 15_000 });
}
