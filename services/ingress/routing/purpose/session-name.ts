/** What names of sessions, agents and prompts may be. Those in use are UUIDs, hexadecimal numbers, and `ses_…`. */
const nameForm = /^[\w.:-]{1,128}$/;

/** What types of agents may be: some have spaces. */
const typeForm = /^[\w.:-][\w .:-]{0,63}$/;

/** A name of a session, an agent or a prompt; undefined for any other value, which is no reason to refuse a request. */
export function sessionName(value: unknown): string | undefined {
  return typeof value === 'string' && nameForm.test(value) ? value : undefined;
}

/** A type of agents; undefined for any other value. */
export function agentTypeName(value: unknown): string | undefined {
  return typeof value === 'string' && typeForm.test(value) ? value : undefined;
}
