import { describe, expect, it } from 'vitest';
import { findRelation, requireAccess, type Action, type Person } from '#services/console/api/access.ts';

const people = {
  admin: { id: 'a', role: 'admin', teams: new Map() },
  self: { id: 's', role: 'member', teams: new Map() },
  'team owner': { id: 'o', role: 'member', teams: new Map([['t', 'owner']]) },
  'team member': { id: 'm', role: 'member', teams: new Map([['t', 'member']]) },
  nobody: { id: 'n', role: 'member', teams: new Map([['other team', 'owner']]) },
} as const satisfies Record<string, Person>;

/** One line for each action: the status that each person gets; 200 stands for yes. */
const lines: Record<Action, [admin: number, self: number, owner: number, member: number, nobody: number]> = {
  'key.see': [200, 200, 200, 200, 404],
  'key.make': [200, 200, 200, 403, 404],
  'key.make.router': [200, 403, 403, 403, 403],
  'key.change': [200, 200, 200, 403, 404],
  'key.class.high': [200, 403, 403, 403, 403],
  'key.record': [200, 404, 200, 403, 404],
  'user.manage': [200, 403, 403, 403, 403],
  'team.see': [200, 404, 200, 200, 404],
  'team.make': [200, 403, 403, 403, 403],
  'team.change': [200, 403, 403, 403, 404],
  'team.record': [200, 404, 200, 403, 404],
  'team.delete': [200, 403, 403, 403, 404],
  'team.members': [200, 404, 200, 403, 404],
  'invitation.manage': [200, 403, 403, 403, 403],
  'webhook.manage': [200, 200, 200, 403, 404],
  'webhook.make.router': [200, 403, 403, 403, 403],
  'batch.see': [200, 200, 200, 200, 404],
  'batch.cancel': [200, 200, 200, 403, 404],
  'file.see': [200, 200, 200, 200, 404],
  'file.read': [403, 200, 200, 403, 404],
  'file.delete': [200, 200, 200, 403, 404],
  'background.see': [200, 403, 403, 403, 403],
  'background.repeat': [200, 403, 403, 403, 403],
  'worker.steer': [200, 403, 403, 403, 403],
  'credential.manage': [200, 403, 403, 403, 403],
  'registry.see': [200, 403, 403, 403, 403],
  'registry.change': [200, 403, 403, 403, 403],
  'price.change': [200, 403, 403, 403, 403],
  'token.manage': [200, 200, 404, 404, 404],
  'audit.read': [200, 403, 403, 403, 403],
  'settings.manage': [200, 403, 403, 403, 403],
};

function outcome(action: Action, relation: keyof typeof people): number {
  const owner = relation === 'self' ? ({ kind: 'user', id: 's' } as const) : ({ kind: 'team', id: 't' } as const);
  expect(findRelation(people[relation], owner)).toBe(relation);
  try {
    requireAccess(action, people[relation], owner);
    return 200;
  } catch (error) {
    return (error as { status: number }).status;
  }
}

describe('access', () => {
  it.each(Object.entries(lines))('to %s matches its line in this test', (action, expected) => {
    const relations = ['admin', 'self', 'team owner', 'team member', 'nobody'] as const;
    expect(relations.map((relation) => outcome(action as Action, relation))).toEqual(expected);
  });

  it('treats a person as nobody to resources of nobody, of another person, and of a team that they are not in', () => {
    expect(findRelation(people.self)).toBe('nobody');
    expect(findRelation(people.self, { kind: 'user', id: 'o' })).toBe('nobody');
    // A team's id is not mistaken for a person's.
    expect(findRelation(people.self, { kind: 'team', id: 's' })).toBe('nobody');
    expect(findRelation(people['team owner'], { kind: 'user', id: 't' })).toBe('nobody');
  });
});
