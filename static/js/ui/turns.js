// Leaving the thread to the browser: for painting, and for what the user does.

/**
 * After the next frame has been painted; at once where nothing is painted, as in a hidden tab.
 * @returns {Promise<void>}
 */
export function painted() {
  if (document.hidden) return Promise.resolve();
  return new Promise((resolve) => requestAnimationFrame(() => turn().then(resolve)));
}

/**
 * After what waits now.
 * @returns {Promise<void>}
 */
export function turn() {
  return new Promise((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => resolve();
    channel.port2.postMessage(null);
  });
}
