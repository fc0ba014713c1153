import type { z } from 'zod';
import type { AdminScope } from '#shared/accounts/keys/admin-tokens/admin-token.ts';
import type { NamedPeriod } from '#shared/accounts/periods.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The subjects of operations, in the order in which the document lists them. */
export const subjects = {
  people: 'Who has an account: their role, limits, ceiling and sessions.',
  teams: 'Teams and their members.',
  invitations: 'Links with which people make an account.',
  keys: 'API keys of people, of teams and of the router.',
  usage: 'Sums over requests, single requests, sessions of coding agents, and how much of each limit is used.',
  recordings: 'Recorded prompts and answers, of teams and keys whose recording is switched on.',
  prices: 'What models cost.',
  registry: 'Names of models, and the rules of `auto`.',
  workers: 'Workers, the models that they serve, and the credentials with which they join.',
  webhooks: 'Addresses that events are sent to.',
  batches: 'Batches and files.',
  'background work': 'Queues of work that nobody waits for.',
  audit: 'Who changed what.',
  settings: 'Settings of sign-in, keys and the audit trail.',
  tokens: 'Admin tokens.',
} as const;

/** What the commands of `rtr` are for that are not called after their subject. */
export const commandGroups: Readonly<Record<string, string>> = {
  users: subjects.people,
  members: 'Who is in a team.',
  sessions: 'Sessions of coding agents.',
  models: 'Names of models that clients can request.',
  batches: 'Batches of everybody.',
  files: 'Files of everybody.',
  background: subjects['background work'],
  invite: 'Lines with which machines join as workers.',
};

/** What an operation takes and answers. The OpenAPI document and the commands of `rtr` are made of it. */
export interface OperationDescription {
  method: Method;
  /**
   * For example `/teams/{id}`. A parameter stands for one segment, in which a slash is written as `%2F`. A parameter such as `{+model}` may
   * contain slashes.
   */
  path: string;
  /** For example `createTeam`. */
  id: string;
  subject: keyof typeof subjects;
  /** One sentence. */
  summary: string;
  /** The scopes of admin tokens that permit the operation. The scope `admin` always permits it. */
  scopes: readonly AdminScope[];
  /** The command of `rtr` that does the same, for example `keys create`. */
  command: string;
  /** What the schemas do not say about the command. */
  form: CommandForm;
  query: z.ZodObject | undefined;
  body: z.ZodType | undefined;
  /** The maximum size of the body in bytes, if it differs from the limit of other operations. */
  maxBodyBytes: number | undefined;
  /** The schema of the answer or, for a list, of one item. */
  answer: z.ZodType | undefined;
  /** The statuses of a success. A `put` by name answers 201 if it has created the resource. */
  statuses: readonly number[];
  /** Whether the operation answers a list page by page. */
  isList: boolean;
  /** Whether the list is answered in pages even if the caller asks for all items, because it may be too long. */
  isEndless: boolean;
  /** The media types of the files that the operation writes; empty for none. */
  files: readonly string[];
  /** Whether the operation answers an ETag, and whether it accepts one in `If-Match`. */
  etags: { answers: boolean; takes: boolean };
}

/** What a command of `rtr` takes and prints, where that does not follow from the schemas of its operation. */
export interface CommandForm {
  /** The fields of the query or the body that are arguments, after the parameters of the path. All others are options. */
  arguments?: readonly string[];
  /** What texts on the command line refer to, by parameter or field, where the name of the field does not say it. */
  references?: Readonly<Record<string, Reference>>;
  /** The names of options, by field, where they differ from the name of the field. */
  flags?: Readonly<Record<string, string>>;
  /** The field of the answer that has the items of the list, if the list comes in an object. */
  items?: string;
  /** The columns of a list, such as `id` and `owner.name`. Absent: all fields that fit into a cell. */
  columns?: readonly string[];
  /** Fields of the answer that only `--json` prints. */
  hidden?: readonly string[];
  /** The sentence for a list without items. */
  none?: string;
  /** The sentence that reports a change. A field of the answer, or the name of an argument, stands in braces. */
  done?: string;
  /** A sentence like `done`, which goes to the standard error, so that a program can read what is printed. */
  hint?: string;
  /** A sentence that comes before what is printed if the answer has a field. */
  warning?: { if: string; sentence: string };
  /** The period until now that a required `from` begins, if it is not 30 days. */
  period?: NamedPeriod;
  example?: string;
}

/** `receiver`: a person who gets something, and must therefore have a confirmed address if an address names them. */
export type Reference =
  | 'person'
  | 'receiver'
  | 'member'
  | 'team'
  | 'key'
  | 'party'
  | 'party id'
  | 'invitation'
  | 'box invitation'
  | 'file';
