import type { RequestPurpose } from '#shared/core/purpose.ts';
import type { RegistryRules, RegistryTarget } from '#shared/registry/registry.ts';

/** A rule of the registry that applies to a request. */
export interface RoutingRule {
  /** Where it stands in the registry, such as `models.coder.purposes.auxiliary`. Logs and usage records name it so. */
  path: string;
  targets: readonly RegistryTarget[];
}

/**
 * The rule that applies to a request by what it is for: the one for its agent's type, else the one for its purpose.
 * @param at where the rules stand in the registry
 */
export function ruleFor(
  { agents, purposes }: RegistryRules,
  { agentType, purpose }: RequestPurpose,
  at: string,
): RoutingRule | undefined {
  const ofAgent = agentType !== undefined && Object.hasOwn(agents, agentType) ? agents[agentType] : undefined;
  if (ofAgent) return { path: `${at}.agents.${agentType}`, targets: ofAgent.targets };
  const ofPurpose = purpose && purposes[purpose];
  return ofPurpose && { path: `${at}.purposes.${purpose}`, targets: ofPurpose.targets };
}
