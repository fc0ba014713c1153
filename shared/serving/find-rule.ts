import type { RequestPurpose } from '#shared/core/purpose.ts';
import type { RegistryRules, RegistryTarget } from '#shared/registry/registry.ts';

export interface RoutingRule {
  /** The registry path of the rule, such as `models.coder.purposes.auxiliary`, for logs and usage records. */
  path: string;
  targets: readonly RegistryTarget[];
}

/**
 * Finds the rule that applies to a request: the rule for its agent type, otherwise the rule for its purpose.
 * @param at the registry path of the rules
 */
export function findRule(
  { agents, purposes }: RegistryRules,
  { agentType, purpose }: RequestPurpose,
  at: string,
): RoutingRule | undefined {
  const ofAgent = agentType !== undefined && Object.hasOwn(agents, agentType) ? agents[agentType] : undefined;
  if (ofAgent) return { path: `${at}.agents.${agentType}`, targets: ofAgent.targets };
  const ofPurpose = purpose && purposes[purpose];
  return ofPurpose && { path: `${at}.purposes.${purpose}`, targets: ofPurpose.targets };
}
