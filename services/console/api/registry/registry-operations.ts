import { hash } from 'node:crypto';
import { z } from 'zod';
import { QueueFullError, FairQueue } from '#shared/core/fair-queue.ts';
import type { NewRegistryVersion } from '#shared/accounts/registry-versions/registry-versions.ts';
import { RouterError } from '#shared/core/errors.ts';
import { checkInThread } from '#shared/registry/check-in-thread.ts';
import type { CheckedRegistry, RegistryInput } from '#shared/registry/check-registry.ts';
import { maxRegistryBytes } from '#shared/registry/editable-sections.ts';
import { formatProblem, type RegistryProblem } from '#shared/registry/registry-problem.ts';
import type { OpenRegistry } from '#shared/serving/open/open-registry.ts';
import {
  registryCheckSchema,
  registryStateSchema,
  registryVersionFactsSchema,
  registryVersionSchema,
  type RegistryState,
} from '../../contract/registry.ts';
import { requireAccess } from '../access.ts';
import type { Actor } from '../actor.ts';
import { ApiFailure, notFound, stale } from '../api-failure.ts';
import { writeAudit, type ApiParts } from '../api-parts.ts';
import { operation, type Operation } from '../operations/operation.ts';
import { parse } from '../parse.ts';
import { toVersionAnswer, toVersionList } from './registry-answers.ts';
import { changeSchema, checkSchema, revertSchema, versionSchema } from './registry-schemas.ts';

/**
 * The maximum size of a body in bytes. A registry may take twice its bytes in a body, because JSON writes a line break as two characters.
 */
const maxBodyBytes = 2 * maxRegistryBytes + 16 * 1024;

const missingVersionMessage =
  'Name the version that was edited, as `basedOn` or in `If-Match`. Send 0 if there is no version yet.';

export interface RegistryParts extends Pick<ApiParts, 'accounts' | 'log'> {
  registry: Pick<OpenRegistry, 'source' | 'readShownSections' | 'version' | 'announceChange'>;
}

/** Returns the operations of `contract/registry.ts`, for administrators. They accept larger bodies than other operations. */
export function registryOperations(parts: RegistryParts): Operation[] {
  const { accounts, registry } = parts;
  const { registryVersions: versions, users } = accounts;
  /** Runs one check at a time, because a check occupies a core for up to a second. */
  const checks = new FairQueue({ concurrency: 1, waitingPerOwner: 4, waiting: 16 });
  const common = { subject: 'registry', scopes: [] } as const;
  const readRoute = { method: 'get', subject: 'registry', scopes: ['read'] } as const;

  return [
    operation({
      ...readRoute,
      path: '/registry',
      id: 'getRegistry',
      summary: 'Returns the registry: names of models, their targets and weights, and the rules of `auto`.',
      command: 'registry show',
      answer: registryStateSchema,
      etags: { answers: true },
      handle: async ({ actor, reply }) => {
        requireAccess('registry.see', actor);
        return toAnswer(reply);
      },
    }),
    operation({
      ...common,
      method: 'put',
      path: '/registry',
      id: 'changeRegistry',
      summary: 'Stores a new version of the registry, which all nodes use within a second.',
      command: 'registry set',
      body: changeSchema,
      maxBodyBytes,
      answer: registryStateSchema,
      etags: { answers: true, takes: true },
      handle: async ({ actor, body: { basedOn: base, note, ...input }, ifRevision, reply }) => {
        requireAccess('registry.change', actor);
        requireStore();
        const basedOn = base ?? ifRevision;
        if (basedOn === undefined)
          throw new ApiFailure(400, 'invalid_request', missingVersionMessage, { field: 'basedOn' });
        if (ifRevision !== undefined && ifRevision !== (await findNewestNumber())) throw stale();
        await store(actor, 'registry.change', { ...(await requireValid(actor, toInput(input))), basedOn, note });
        return toAnswer(reply);
      },
    }),
    operation({
      ...common,
      method: 'post',
      path: '/registry/check',
      id: 'checkRegistry',
      summary: 'Checks whether a registry could be stored, and returns what is wrong with it.',
      command: 'registry check',
      body: checkSchema,
      maxBodyBytes,
      answer: registryCheckSchema,
      handle: async ({ actor, body }) => {
        requireAccess('registry.change', actor);
        const checked = await check(actor, toInput(body));
        const problems = 'problems' in checked ? checked.problems : [];
        return { ok: problems.length === 0, problems: [...problems] };
      },
    }),
    operation({
      ...readRoute,
      path: '/registry/versions',
      id: 'listRegistryVersions',
      summary: 'Lists the newest 50 versions, newest first.',
      command: 'registry versions',
      form: { columns: ['version', 'at', 'bytes', 'by.name', 'revertOf', 'note'], none: 'No version has been stored.' },
      answer: z.array(registryVersionFactsSchema),
      handle: async ({ actor }) => {
        requireAccess('registry.see', actor);
        return toVersionList(users, await versions.list());
      },
    }),
    operation({
      ...readRoute,
      path: '/registry/versions/{version}',
      id: 'getRegistryVersion',
      summary: 'Returns a version with its text.',
      command: 'registry show',
      answer: registryVersionSchema,
      handle: async ({ actor, params }) => {
        requireAccess('registry.see', actor);
        const version = await versions.find(parse(versionSchema, params).version);
        if (!version) throw notFound();
        return toVersionAnswer(users, version);
      },
    }),
    operation({
      ...common,
      method: 'post',
      path: '/registry/revert',
      id: 'revertRegistry',
      summary: 'Stores the text of an earlier version again, as a new version.',
      command: 'registry revert',
      form: { arguments: ['version'], done: 'Version {version} is in use.' },
      body: revertSchema,
      answer: registryStateSchema,
      etags: { answers: true },
      handle: async ({ actor, body, reply }) => {
        requireAccess('registry.change', actor);
        const { version, basedOn = await findNewestNumber() } = body;
        requireStore();
        const earlier = await versions.find(version);
        if (!earlier) throw notFound();
        // The version is checked again, because another release may have stored it.
        const checkedAgain = await requireValid(actor, { text: earlier.text });
        await store(actor, 'registry.revert', { ...checkedAgain, basedOn, revertOf: version });
        return toAnswer(reply);
      },
    }),
  ];

  /** Returns the registry and sets its ETag to the number of its version. */
  async function toAnswer(reply: { revision?: number }): Promise<RegistryState> {
    const state = await readState();
    if (!state.readOnly) reply.revision = state.version;
    return state;
  }

  async function findNewestNumber(): Promise<number> {
    return (await versions.findNewest())?.number ?? 0;
  }

  async function readState(): Promise<RegistryState> {
    if (registry.source === 'file') {
      const config = registry.readShownSections();
      const etag = hash('sha256', JSON.stringify(config), 'base64url').slice(0, 16);
      return { source: 'file', readOnly: true, version: 0, etag, config };
    }
    const newest = await versions.findNewest();
    const version = newest && (await versions.find(newest.number));
    const inUse = registry.version()?.number ?? 0;
    if (!version) return { source: 'none', readOnly: false, version: 0, etag: '', config: {}, text: '' };
    const { number, etag, config, text } = version;
    return {
      source: 'store',
      readOnly: false,
      version: number,
      etag,
      config,
      text,
      ...(inUse !== number && { inUse }),
    };
  }

  /**
   * Refuses a change if the registry is a file.
   * @throws ApiFailure 409
   */
  function requireStore(): void {
    if (registry.source === 'store') return;
    const message = 'The registry is the file that ROUTER_CONFIG names. It is edited there, and can only be read here.';
    throw new ApiFailure(409, 'registry_read_only', message);
  }

  async function check(actor: Actor, input: RegistryInput): Promise<CheckedRegistry> {
    try {
      return await checks.run(actor.id, () => checkInThread(input));
    } catch (error) {
      if (!(error instanceof QueueFullError)) throw error;
      const message = 'Too many registries are being checked. Please try again soon.';
      throw new RouterError('overloaded', message, { retryAfter: 2, cause: error });
    }
  }

  /**
   * Checks a registry and returns the form to store.
   * @throws ApiFailure 400 that names the invalid field
   */
  async function requireValid(
    actor: Actor,
    input: RegistryInput,
  ): Promise<Exclude<CheckedRegistry, { problems: unknown }>> {
    const checked = await check(actor, input);
    if ('problems' in checked) throw invalidFailure(checked.problems);
    return checked;
  }

  /**
   * Stores a version, and writes the change into the audit trail.
   * @throws ApiFailure 409 if another version was stored meanwhile
   */
  async function store(actor: Actor, action: string, version: Omit<NewRegistryVersion, 'by'>): Promise<void> {
    const { basedOn, note, revertOf } = version;
    const byName = actor.token?.madeAt === undefined ? undefined : actor.name;
    const outcome = await versions.add({ ...version, by: actor.id, byName });
    if ('newest' in outcome) {
      const message = `Version ${outcome.newest} is the newest one, and this edit is based on version ${basedOn}. Load it and edit it again.`;
      throw new ApiFailure(409, 'registry_changed', message, { field: 'basedOn' });
    }
    await registry.announceChange();
    const details = { before: basedOn, after: outcome.stored, revertOf, note };
    await writeAudit(parts, actor, {
      action,
      target: { kind: 'registry', id: 'registry', name: 'registry' },
      details,
    });
  }
}

function toInput({ text, config = {} }: z.output<typeof checkSchema>): RegistryInput {
  return text === undefined ? { config } : { text };
}

function invalidFailure(problems: readonly RegistryProblem[]): ApiFailure {
  const [first = { message: 'This is not valid.' }] = problems;
  const { field } = first;
  const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`;
  return new ApiFailure(
    400,
    'invalid_registry',
    `${formatProblem(first)}${more}`,
    field === undefined ? {} : { field },
  );
}
