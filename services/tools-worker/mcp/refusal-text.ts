/**
 * Writes the reason why the router, as the client of an MCP server, refuses a request of the server. The router has no model and no person
 * to ask. It cannot ask the caller of the tool either, because the caller may be an application.
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
