import type { ResponsesItem, ResponsesRequest, ResponsesTool, ResponsesToolSearchOutput } from '../request.ts';

const toolItems: ReadonlySet<unknown> = new Set(['additional_tools', 'tool_search_output']);

export interface RequestTool {
  tool: ResponsesTool;
  /** A path such as `tools[2]` or `input[0].tools[1]`. */
  param: string;
}

/** Whether an item of the input adds tools to the request. */
export function addsTools(item: ResponsesItem): item is ResponsesToolSearchOutput {
  return toolItems.has(item.type);
}

/** Lists all tools of a request: the tools in `tools`, then the tools that input items add. */
export function listRequestTools({ tools, input }: Pick<ResponsesRequest, 'tools' | 'input'>): RequestTool[] {
  const items = Array.isArray(input) ? input : [];
  const listTools = (list: readonly ResponsesTool[] | null | undefined, param: string): RequestTool[] =>
    (list ?? []).map((tool, at) => ({ tool, param: `${param}[${at}]` }));
  return [
    ...listTools(tools, 'tools'),
    ...items.flatMap((item, at) => (addsTools(item) ? listTools(item.tools, `input[${at}].tools`) : [])),
  ];
}

/** Applies a change to the tools of each item that adds tools. */
export function changeAddedTools(
  items: readonly ResponsesItem[],
  change: (tools: readonly ResponsesTool[]) => ResponsesTool[],
): ResponsesItem[] {
  return items.map((item) => (addsTools(item) && item.tools ? { ...item, tools: change(item.tools) } : item));
}
