/**
 * Returns the reason why the router refuses a request of an MCP server to its client. As a client, the router has no model and no person to
 * ask. The caller of the tool cannot be asked either, because it may be an application.
 */
export function writeRefusal(method: string): string {
  return `The router does not answer ${describeMethod(method)}: it passes on calls, and has nobody to ask.`;
}

function describeMethod(method: string): string {
  switch (method) {
    case 'sampling/createMessage':
      return 'requests for an answer of a model (`sampling/createMessage`)';
    case 'elicitation/create':
      return 'questions to a person (`elicitation/create`)';
    default:
      return `\`${method}\` of MCP servers`;
  }
}
