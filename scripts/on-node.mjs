// Which arguments run a command of Node on a major version that is at least this: none more where this one is.

/** For `spawn(process.execPath, onNode(22, ['file.mjs']))`; npm fetches a Node where ours is older. */
export function onNode(least, command) {
  const isNewEnough = Number(process.versions.node.split('.')[0]) >= least;
  return isNewEnough ? command : ['scripts/node-versions.mjs', String(least), 'node', ...command];
}
