import { Alert, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/**
 * Shows what does not work without TLS. On a page without TLS from another machine, browsers offer no passkeys and programs refuse to sign
 * in. Renders nothing on a secure page.
 */
export function InsecureNotice({ children }: { children: ReactNode }) {
  if (window.isSecureContext) return null;
  return (
    <Alert
      color="orange"
      variant="outline"
      title="This page has no TLS"
      role="note"
      styles={{ title: { color: 'var(--mantine-color-text)' } }}
    >
      <Text size="sm">{children} Ask your administrator for an address with https.</Text>
    </Alert>
  );
}
