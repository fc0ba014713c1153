import type { Request, Response } from 'express';
import { z } from 'zod';
import type { AdminScope } from '#shared/accounts/keys/admin-tokens/admin-token.ts';
import type { CommandForm, Method, OperationDescription } from '../../contract/operation.ts';
import type { Actor } from '../actor.ts';
import { ApiFailure } from '../api-failure.ts';
import { parse } from '../parse.ts';
import { defaultPageSize, pageQuery, type Page } from './page.ts';

/** One operation of the API, as the console's pages and the Admin API serve it. */
export interface Operation extends OperationDescription {
  run: (call: Call) => Promise<Outcome>;
}

export interface Call {
  actor: Actor;
  request: Request;
  response: Response;
  /** The number of items on a page of a list if the request sets no limit. */
  pageSize: number;
}

/** The result of an operation. `sent`: the operation has written the answer itself. */
export type Outcome = 'sent' | { status: number; value: unknown; etag: string | undefined; next: string | undefined };

type Schema = z.ZodType | undefined;
type Parsed<S extends Schema> = S extends z.ZodType ? z.output<S> : undefined;

type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `+${infer Plain}` ? Plain : Name) | ParamNames<Rest>
  : never;

export interface Input<Path extends string, Query extends Schema, Body extends Schema> {
  actor: Actor;
  params: Readonly<Record<ParamNames<Path>, string>>;
  query: Parsed<Query>;
  body: Parsed<Body>;
  /** The revision that the request names in `If-Match`. */
  ifRevision: number | undefined;
  /** The handler sets the status and the revision of its answer here. */
  reply: { status?: number; revision?: number };
  request: Request;
  response: Response;
}

interface OperationFacts<Path extends string, Query extends z.ZodObject | undefined, Body extends Schema> {
  method: Method;
  path: Path;
  id: string;
  subject: Operation['subject'];
  summary: string;
  scopes: readonly AdminScope[];
  command: string;
  form?: CommandForm;
  query?: Query;
  body?: Body;
  maxBodyBytes?: number;
  statuses?: readonly [number, ...number[]];
  /** Whether the operation answers an ETag (`reply.revision`), and whether it accepts one in `If-Match`. */
  etags?: { answers?: boolean; takes?: boolean };
}

/** Declares an operation. Its schemas validate requests and describe them in the OpenAPI document. */
export function operation<
  const Path extends string,
  Query extends z.ZodObject | undefined = undefined,
  Body extends Schema = undefined,
  Answer extends Schema = undefined,
>(
  facts: OperationFacts<Path, Query, Body> & {
    answer?: Answer;
    handle: (input: Input<Path, Query, Body>) => Promise<Answer extends z.ZodType ? z.output<Answer> : void>;
  },
): Operation {
  const { handle, answer } = facts;
  const statuses = facts.statuses ?? [answer === undefined ? 204 : 200];
  return {
    ...describeOperation(facts, statuses),
    answer,
    run: async (call) => {
      const input = readInput(facts, call);
      const value = await handle(input);
      return toOutcome(input.reply, statuses, value, undefined);
    },
  };
}

/** Declares an operation that answers a list, page by page. */
export function listOperation<
  const Path extends string,
  Item extends z.ZodType,
  Query extends z.ZodObject | undefined = undefined,
>(
  facts: Omit<OperationFacts<Path, Query, undefined>, 'method' | 'statuses' | 'body'> & {
    item: Item;
    isEndless?: boolean;
    handle: (
      input: Input<Path, Query, undefined>,
      page: { limit: number; cursor: string | undefined },
    ) => Promise<Page<z.output<Item>>>;
  },
): Operation {
  const { handle, item, query, isEndless = false } = facts;
  const paged = query ? query.extend(pageQuery.shape) : pageQuery;
  const allFacts = { ...facts, method: 'get', query: paged } as const;
  return {
    ...describeOperation(allFacts, [200]),
    query: paged,
    answer: item,
    isList: true,
    isEndless,
    run: async (call) => {
      const input = readInput<Path, typeof paged, undefined>(allFacts, call);
      const defaultLimit = isEndless && call.pageSize === Infinity ? defaultPageSize : call.pageSize;
      const { limit = defaultLimit, cursor, ...rest } = input.query;
      const { data, next } = await handle({ ...input, query: rest as Parsed<Query> }, { limit, cursor });
      return toOutcome(input.reply, [200], data, next);
    },
  };
}

/** Declares an operation that answers a file. `handle` writes the file. */
export function fileOperation<const Path extends string, Query extends z.ZodObject | undefined = undefined>(
  facts: Omit<OperationFacts<Path, Query, undefined>, 'method' | 'statuses' | 'body'> & {
    files: readonly string[];
    handle: (input: Input<Path, Query, undefined>) => Promise<void>;
  },
): Operation {
  const allFacts = { ...facts, method: 'get' } as const;
  return {
    ...describeOperation(allFacts, [200]),
    answer: undefined,
    files: facts.files,
    run: async (call) => {
      await facts.handle(readInput(allFacts, call));
      return 'sent';
    },
  };
}

function describeOperation(
  facts: OperationFacts<string, z.ZodObject | undefined, Schema>,
  statuses: readonly number[],
): Omit<Operation, 'answer' | 'run'> {
  const {
    method,
    path,
    id,
    subject,
    summary,
    scopes,
    command,
    form = {},
    query,
    body,
    maxBodyBytes,
    etags = {},
  } = facts;
  const { answers = false, takes = false } = etags;
  const description = {
    method,
    path,
    id,
    subject,
    summary,
    scopes,
    command,
    form,
    query,
    body,
    maxBodyBytes,
    statuses,
  };
  return { ...description, isList: false, isEndless: false, files: [], etags: { answers, takes } };
}

function readInput<Path extends string, Query extends z.ZodObject | undefined, Body extends Schema>(
  { method, query, body, etags }: Pick<OperationFacts<Path, Query, Body>, 'method' | 'query' | 'body' | 'etags'>,
  { actor, request, response }: Call,
): Input<Path, Query, Body> {
  if (method !== 'get' && etags?.takes !== true && request.get('if-match') !== undefined) {
    throw new ApiFailure(400, 'invalid_request', 'This operation takes no If-Match, and would ignore it.');
  }
  return {
    actor,
    params: joinParams(request.params) as Readonly<Record<ParamNames<Path>, string>>,
    query: (query && parse(query, request.query)) as Parsed<Query>,
    body: (body && parse(body, request.body)) as Parsed<Body>,
    ifRevision: etags?.takes === true ? parseRevision(request.get('if-match')) : undefined,
    reply: {},
    request,
    response,
  };
}

/** Returns the parameters of the path. Express splits a parameter that contains slashes into segments, which this function joins again. */
function joinParams(params: Request['params']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, Array.isArray(value) ? value.join('/') : value]),
  );
}

/**
 * Returns the revision of an ETag, for example 7 for `"7"`. Returns undefined without a header and for `*`, which any revision matches.
 * Returns -1, which no revision matches, for an ETag in another form.
 */
function parseRevision(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  const [, digits] = /^\s*"(\d{1,15})"\s*$/.exec(header) ?? [];
  return digits === undefined ? -1 : Number(digits);
}

function toOutcome(
  { status, revision }: Input<string, undefined, undefined>['reply'],
  statuses: readonly number[],
  value: unknown,
  next: string | undefined,
): Outcome {
  const etag = revision === undefined ? undefined : `"${revision}"`;
  return { status: status ?? statuses[0] ?? 200, value, etag, next };
}
