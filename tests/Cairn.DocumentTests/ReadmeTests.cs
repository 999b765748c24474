namespace Cairn.DocumentTests;

/// <summary>
/// The shell blocks of README.md work when a user pastes them. Each block runs as a whole and in order in bash, in a clean clone, with an empty home.
/// Every block has a network and processes of its own, because README.md uses the default ports. All its processes end with it.
/// </summary>
public sealed class ReadmeTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [RequiresNamespacesFact("git", "bash", "redis-cli", "curl")]
    public async Task Every_shell_block_of_the_readme_prints_what_it_says()
    {
        string clone = await CloneAsync();
        Directory.CreateDirectory(_directory["home"]);
        ShellBlock[] blocks = [.. ShellBlock.Read(await File.ReadAllLinesAsync(RepositoryFile.At("README.md")))];

        Assert.Equal(3, blocks.Count(block => block.Output.Count > 0));
        foreach (ShellBlock block in blocks)
        {
            ProgramRun run = await PasteAsync(clone, block.Script);

            Assert.True(run.ExitCode == 0 && block.IsShownBy(run.Output), $"README.md:{block.Line} ended with {run.ExitCode} and printed:\n{run.Everything}");
        }
    }

    [Fact]
    public void Output_that_lacks_a_line_or_has_another_order_is_noticed()
    {
        string[] document = ["```sh", "echo OK", "echo '\"Dune\"'", "```", "", "```text", "OK", "\"Dune\"", "```", "", "```sh", "true", "```", "", "Words.", "", "```text", "no output", "```"];

        ShellBlock[] blocks = [.. ShellBlock.Read(document)];

        Assert.Equal([1, 11], blocks.Select(block => block.Line));
        Assert.Equal(["OK", "\"Dune\""], blocks[0].Output);
        Assert.Empty(blocks[1].Output);
        Assert.True(blocks[0].IsShownBy("noise\nOK\nnoise\nDune\n"));
        Assert.False(blocks[0].IsShownBy("Dune\nOK\n"));
        Assert.False(blocks[0].IsShownBy("OK\n"));
        Assert.False(blocks[0].IsShownBy("OK, or not\nDune\n"));
    }

    // Clones the tracked files in their present state. Installs the tool of this build under the key of its sources, as the launcher would. Another build
    // takes a minute, and LauncherTests does one.
    private async Task<string> CloneAsync()
    {
        string clone = _directory["cairn"];
        ProgramRun copied = await ProgramRun.FinishAsync(ProgramRun.Outside("bash", RepositoryFile.Root, "-c", """
            set -euo pipefail
            git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do [[ ! -e $file ]] || printf '%s\0' "$file"; done |
              tar --create --null --files-from=- | { mkdir "$0" && tar --extract --directory "$0"; }
            root=$0
            eval "$(sed -nE '/^(inputs|key_of_sources)\(\) \{$/,/^}$/p' "$root/cairn")"
            tool=$root/artifacts/tool/$(key_of_sources)-native
            mkdir -p "$tool"
            printf '#!/bin/sh\nexec dotnet "%s" "$@"\n' "$PWD/src/Cairn.Cli/bin/Release/net10.0/Cairn.Cli.dll" >"$tool/cairn"
            chmod +x "$tool/cairn"
            """, clone));
        Assert.True(copied.ExitCode == 0, copied.Everything);
        return clone;
    }

    private Task<ProgramRun> PasteAsync(string clone, string script)
    {
        var start = ProgramRun.Outside(
            "unshare", clone, [.. RequiresNamespacesFactAttribute.Options, "bash", "-c", "ip link set lo up && exec bash"]);
        string restored = Environment.GetEnvironmentVariable("NUGET_PACKAGES")
            ?? Path.Combine(Environment.GetFolderPath(Environment.SpecialFolder.UserProfile), ".nuget", "packages");
        string? path = start.Environment["PATH"];
        start.Environment.Clear();
        start.Environment["PATH"] = path;
        start.Environment["HOME"] = _directory["home"];

        // Without a network, packages cannot be restored again or checked for vulnerabilities.
        start.Environment["NUGET_PACKAGES"] = restored;
        start.Environment["NuGetAudit"] = "false";
        return ProgramRun.FinishAsync(start, script);
    }
}
