/**
 * Returns the reason for refusing a request of an MCP server to its client. The router is a client without a model or a person of its own:
 * the caller of the tool may be an application, and cannot be asked.
 */
export function refusalText(method: string): string {
  return `The router does not answer ${described(method)}: it passes on calls, and has nobody to ask.`;
}

function described(method: string): string {
  switch (method) {
    case 'sampling/createMessage':
      return 'requests for an answer of a model (`sampling/createMessage`)';
    case 'elicitation/create':
      return 'questions to a person (`elicitation/create`)';
    default:
      return `\`${method}\` of MCP servers`;
  }
}
