import { Modal, type ModalProps } from '@mantine/core';
import { createContext, useState } from 'react';

/** Called when a copy button inside the dialog has copied a text. */
export const CopyContext = createContext<() => void>(() => undefined);

export interface SecretModalProps extends ModalProps {
  /** Whether the dialog shows a secret that can be seen only now. */
  showsSecret: boolean;
}

/**
 * A dialog that may show a secret once. While it shows a secret, Escape and clicks outside close the dialog only after something in it was
 * copied, because the secret would be lost. The buttons of the dialog close it at any time.
 */
export function SecretModal({ showsSecret, children, ...props }: SecretModalProps) {
  const [hasCopied, setHasCopied] = useState(false);
  if (hasCopied && !showsSecret) setHasCopied(false);
  const mayLeave = !showsSecret || hasCopied;
  return (
    <Modal {...props} closeOnEscape={mayLeave} closeOnClickOutside={mayLeave}>
      <CopyContext value={() => setHasCopied(true)}>{children}</CopyContext>
    </Modal>
  );
}
