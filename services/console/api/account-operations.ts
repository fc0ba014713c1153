import type { ApiParts } from './api-parts.ts';
import { auditOperations } from './audit/audit-operations.ts';
import { keyOperations } from './keys/key-operations.ts';
import type { Operation } from './operations/operation.ts';
import { invitationOperations } from './people/invitation-operations.ts';
import { personOperations } from './people/person-operations.ts';
import { teamMemberOperations } from './people/team-member-operations.ts';
import { teamOperations } from './people/team-operations.ts';
import { userOperations } from './people/user-operations.ts';
import { settingsOperations } from './settings-operations.ts';
import { tokenOperations } from './tokens/token-operations.ts';

export function accountOperations(parts: ApiParts): Operation[] {
  return [
    ...userOperations(parts),
    ...personOperations(parts),
    ...teamOperations(parts),
    ...teamMemberOperations(parts),
    ...invitationOperations(parts),
    ...keyOperations(parts),
    ...auditOperations(parts),
    ...settingsOperations(parts),
    ...tokenOperations(parts),
  ];
}
