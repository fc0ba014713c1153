import { describe, expect } from 'vitest';
import type { ToolInfo } from '#shared/broker/contract/announcement.ts';
import { openCredentialName } from '#shared/broker/contract/worker-address.ts';
import { CredentialToolRules } from '#shared/broker/dispatch/workers/credential-tool-rules.ts';
import type { Tier } from '#shared/core/tier.ts';
import { announce } from '../../../../helpers/broker/announcement.ts';
import type { TestIngress } from '../../../../helpers/broker/broker-parties.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import { until } from '../../../../helpers/until.ts';

const of = (tier: Tier, owner: string) => ({ tier, credentialName: owner, worker: 'w', process: 'p' });

const tool = (name: string, facts: Partial<ToolInfo> = {}): ToolInfo => ({
  name,
  description: '',
  inputSchema: { type: 'object' },
  ...facts,
});

describe('a credential of the tools tier', () => {
  it('that is its own may announce any tool, and so may workers without one', () => {
    const claims = new CredentialToolRules();
    claims.recordNames(of('tools', 'tools'), [tool('add')], []);
    expect(claims.mayServe(of('tools', 'tools'), tool('add'))).toBe(true);
    expect(claims.mayServe(of('tools', openCredentialName), tool('add'))).toBe(true);
  });

  it('of a name of its own takes no name from it, and no server, and may announce all others', () => {
    const claims = new CredentialToolRules();
    const ann = of('tools', 'ann');
    const served = [tool('search_it', { givenName: 'search.it', server: 'wiki' })];
    expect(claims.mayServe(ann, tool('search_it'))).toBe(true);
    claims.recordNames(of('tools', 'tools'), served, []);
    expect(claims.mayServe(ann, tool('search_it'))).toBe(false);
    expect(claims.mayServe(ann, tool('x', { givenName: 'search.it' }))).toBe(false);
    expect(claims.mayServe(ann, tool('wiki/*', { passes: [] }))).toBe(false);
    expect(claims.mayServe(ann, tool('mine', { server: 'wiki' }))).toBe(false);
    expect(claims.mayServe(ann, tool('wiki_write'))).toBe(false);
    expect(claims.mayServe(ann, tool('wikis_write', { server: 'mine' }))).toBe(true);
  });

  it('with an entry in the registry may announce what that names, and nothing else', () => {
    const claims = new CredentialToolRules();
    const ann = of('tools', 'ann');
    claims.recordNames(of('tools', 'tools'), [tool('wiki_read')], []);
    claims.setEntries({ ann: { tools: ['wiki_*', 'wiki/*'] }, bob: { models: ['x'] } });
    expect(claims.mayServe(ann, tool('wiki_read', { server: 'wiki' }))).toBe(true);
    expect(claims.mayServe(ann, tool('wiki_read', { server: 'github' }))).toBe(false);
    expect(claims.mayServe(ann, tool('github/*', { passes: [] }))).toBe(false);
    expect(claims.mayServe(ann, tool('add'))).toBe(false);
    // An entry for models says nothing of tools.
    expect(claims.mayServe(of('tools', 'bob'), tool('add'))).toBe(true);
    // What it announces is its own, too.
    claims.recordNames(ann, [tool('wiki_write')], []);
    expect(claims.mayServe(of('tools', 'bob'), tool('wiki_write'))).toBe(false);
  });
});

describe('what workers announce', () => {
  const announceTools = (ingress: TestIngress, tier: Tier, owner: string, names: string[]): void => {
    const facts = { tools: names.map((name) => tool(name)), models: [{ id: 'demo', capabilities: [] }] };
    announce(ingress, of(tier, owner), { ...facts, pool: owner });
  };
  const namesOf = ({ workers }: TestIngress, id: string) => {
    const pool = workers.get(id)?.pool;
    return pool && [...pool.models.map((model) => model.id), ...pool.tools.map(({ name }) => name)];
  };

  it('has tools on the tools tier only, and models on the others, with credentials or without', async ({ ingress }) => {
    for (const owner of ['gpu', 'tools', openCredentialName]) announceTools(ingress, 'gpu', owner, ['add']);
    await until(() => expect(namesOf(ingress, 'w')).toEqual(['demo']));
    expect(namesOf(ingress, 'gpu.w')).toEqual(['demo']);
    expect(namesOf(ingress, 'tools.w')).toEqual(['demo']);
    expect(ingress.workers.isKnownTool('add')).toBe(false);
    announceTools(ingress, 'tools', 'ann', ['add']);
    await until(() => expect(namesOf(ingress, 'ann.w')).toEqual(['add']));
    expect(ingress.workers.isKnownTool('add')).toBe(true);
  });

  it.for(['before', 'after'])('leaves out the tools of others that come %s them', async (order, { ingress }) => {
    const both = [
      () => announceTools(ingress, 'tools', 'ann', ['add', 'mine']),
      () => announceTools(ingress, 'tools', 'tools', ['add']),
    ];
    for (const each of order === 'after' ? both : both.toReversed()) each();
    await until(() => expect(namesOf(ingress, 'ann.w')).toEqual(['mine']));
    expect(namesOf(ingress, 'tools.w')).toEqual(['add']);
    ingress.workers.setCredentialEntries({ ann: { tools: ['add'] } });
    expect(namesOf(ingress, 'ann.w')).toEqual(['add']);
  });
});
