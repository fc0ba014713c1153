import type { RequestPurpose } from '#shared/core/purpose.ts';
import type { RegistryRules, RegistryTarget } from '#shared/registry/registry.ts';

export interface RoutingRule {
  /** The registry path of the rule, such as `models.coder.purposes.auxiliary`, for logs and usage records. */
  path: string;
  targets: readonly RegistryTarget[];
}

/**
 * Finds the rule that applies to a request: the rule for its agent type, otherwise the rule for its purpose.
 * @param rulesPath the registry path of the rules
 */
export function findRule(
  { agents, purposes }: RegistryRules,
  { agentType, purpose }: RequestPurpose,
  rulesPath: string,
): RoutingRule | undefined {
  const agentRule = agentType !== undefined && Object.hasOwn(agents, agentType) ? agents[agentType] : undefined;
  if (agentRule) return { path: `${rulesPath}.agents.${agentType}`, targets: agentRule.targets };
  const purposeRule = purpose && purposes[purpose];
  return purposeRule && { path: `${rulesPath}.purposes.${purpose}`, targets: purposeRule.targets };
}
