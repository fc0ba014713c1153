/** Begins the ids of tool calls to which an engine gave none, so that they differ from answer to answer. */
export function toolCallPrefix(answerId: string): string {
  return `call_${answerId.replace(/^(chatcmpl-|msg_)/, '').replaceAll(/[^\w-]/g, '')}_`;
}
