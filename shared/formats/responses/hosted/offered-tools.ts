import type { ResponsesItem, ResponsesRequest, ResponsesTool, ResponsesToolSearchOutput } from '../request.ts';

/** Items that add tools. */
const toolItems: ReadonlySet<unknown> = new Set(['additional_tools', 'tool_search_output']);

/** A tool, and its place in the request. */
export interface OfferedTool {
  tool: ResponsesTool;
  /** Such as `tools[2]` or `input[0].tools[1]`. */
  param: string;
}

/** Whether an item adds tools. */
export function addsTools(item: ResponsesItem): item is ResponsesToolSearchOutput {
  return toolItems.has(item.type);
}

/** All tools that a request offers: in `tools`, then in the items that add some. */
export function offeredTools({ tools, input }: Pick<ResponsesRequest, 'tools' | 'input'>): OfferedTool[] {
  const items = Array.isArray(input) ? input : [];
  const inList = (list: readonly ResponsesTool[] | null | undefined, param: string): OfferedTool[] =>
    (list ?? []).map((tool, at) => ({ tool, param: `${param}[${at}]` }));
  return [
    ...inList(tools, 'tools'),
    ...items.flatMap((item, at) => (addsTools(item) ? inList(item.tools, `input[${at}].tools`) : [])),
  ];
}

/** The items of an input, with other tools in those that add some. */
export function withTools(
  items: readonly ResponsesItem[],
  change: (tools: readonly ResponsesTool[]) => ResponsesTool[],
): ResponsesItem[] {
  return items.map((item) => (addsTools(item) && item.tools ? { ...item, tools: change(item.tools) } : item));
}
