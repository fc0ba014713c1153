import { buildPath, type AdminClient } from '../admin-client.ts';
import type { User } from '../../../../console/contract/people.ts';
import { formatUnconfirmed } from '../find-party.ts';
import { joinPlans, planChange, type Plan, type PresentAccess } from './change.ts';
import { pickChangedFields, findDifferences, type Difference } from './find-differences.ts';
import type { AccessFile } from './read-access.ts';
import { requireUnchanged } from './require-unchanged.ts';

/**
 * Plans the changes of people, without their keys.
 * @throws RouterError for an address in the file that is not confirmed
 */
export function planPeople({ access: { people = {} }, createError }: AccessFile, present: PresentAccess): Plan {
  return joinPlans(
    Object.entries(people).map(([email, { keys: _keys, ...wanted }]) => {
      const current = present.people.get(email);
      if (current && !current.emailConfirmed) throw createError(['people', email], formatUnconfirmed(current));
      const fields = findDifferences(current, wanted);
      return planChange({
        does: current ? 'change' : 'create',
        what: `person ${email}`,
        fields,
        make: async (context) => {
          if (current) return changePerson(context.client, current.id, wanted, fields);
          const { value } = await context.client.send<User>('PUT', buildPath`/users-by-email/${email}`, {
            body: wanted,
          });
          context.people.set(email, value.id);
          return undefined;
        },
      });
    }),
  );
}

async function changePerson(
  client: AdminClient,
  id: string,
  wanted: object,
  fields: readonly Difference[],
): Promise<undefined> {
  const ifMatch = await requireUnchanged(client, buildPath`/users/${id}`, fields);
  const { name, ...body } = pickChangedFields(wanted, fields);
  if (Object.keys(body).length > 0) await client.send('PATCH', buildPath`/users/${id}`, { body, ifMatch });
  if (name !== undefined) await client.send('PATCH', buildPath`/users/${id}/profile`, { body: { name } });
  return undefined;
}
