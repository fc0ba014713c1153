import { at } from '../admin-client.ts';
import type { Person } from '../admin-answers.ts';
import type { Access } from './access-schema.ts';
import { joined, planOf, type Plan, type Present } from './change.ts';
import { changedFields, differences } from './differences.ts';

/** The changes of people, without their keys. */
export function planPeople({ people = {} }: Access, present: Present): Plan {
  return joined(
    Object.entries(people).map(([email, { keys: _keys, ...wanted }]) => {
      const now = present.people.get(email);
      const fields = differences(now, wanted);
      return planOf({
        does: now ? 'change' : 'create',
        what: `person ${email}`,
        fields,
        make: async (maker) => {
          const body = now ? changedFields(wanted, fields) : wanted;
          const { value } = await maker.client.send<Person>('PUT', at`/users-by-email/${email}`, { body });
          maker.people.set(email, value.id);
          return undefined;
        },
      });
    }),
  );
}
