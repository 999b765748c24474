namespace Cairn.DocumentTests;

/// <summary>
/// A bash as a reader of the documents has it: beside a clean clone, with an empty home, and with a network and processes of its own. All its processes end
/// with it.
/// </summary>
internal sealed class CleanShell : IDisposable
{
    private readonly TestDirectory _directory = new();

    public CleanShell() => Directory.CreateDirectory(_directory["home"]);

    /// <summary>Gets the folder of the clone.</summary>
    public string Clone => _directory["cairn"];

    /// <summary>Gets the folder that contains the clone.</summary>
    public string Beside => _directory.Path;

    public void Dispose() => _directory.Dispose();

    /// <summary>Creates an empty folder beside the clone.</summary>
    public string CreateFolder(string name) => Directory.CreateDirectory(_directory[name]).FullName;

    /// <summary>
    /// Clones the tracked files in their present state. Installs the tool of this build under the key of its sources, as the launcher would. Another build
    /// takes a minute, and LauncherTests does one.
    /// </summary>
    public async Task CloneAsync()
    {
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
            """, Clone));
        Assert.True(copied.ExitCode == 0, copied.Everything);
    }

    /// <summary>Pastes a script into bash in a folder. Programs in <paramref name="tools"/> are found first.</summary>
    public Task<ProgramRun> PasteAsync(string folder, string script, string? tools = null)
    {
        var start = ProgramRun.Outside("unshare", folder, [.. RequiresNamespacesFactAttribute.Options, "bash", "-c", "ip link set lo up && exec bash"]);
        string restored = Environment.GetEnvironmentVariable("NUGET_PACKAGES")
            ?? Path.Combine(Environment.GetFolderPath(Environment.SpecialFolder.UserProfile), ".nuget", "packages");
        string? path = start.Environment["PATH"];
        start.Environment.Clear();
        start.Environment["PATH"] = tools is null ? path : $"{tools}:{path}";
        start.Environment["HOME"] = _directory["home"];

        // Without a network, packages cannot be restored again or checked for vulnerabilities.
        start.Environment["NUGET_PACKAGES"] = restored;
        start.Environment["NuGetAudit"] = "false";

        // As in ./test: the builds end before profiled code would pay.
        start.Environment["DOTNET_TieredPGO"] = "0";
        return ProgramRun.FinishAsync(start, script);
    }
}
