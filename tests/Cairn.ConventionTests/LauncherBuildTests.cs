using System.Diagnostics;
using System.Runtime.Intrinsics.X86;
using System.Runtime.Versioning;

namespace Cairn.ConventionTests;

/// <summary>When ./cairn builds, and what. A script in the place of dotnet makes a tool that prints its kind and its source.</summary>
[SupportedOSPlatform("linux")]
public sealed class LauncherBuildTests : IDisposable
{
    private const int LauncherFailed = 125;
    private const string Source = "src/Cairn.Cli/Program.cs";
    private const string LinksProbe = "gcc";

    // The functions of the script, without its commands.
    private const string Functions = """
            sed '/^require_descriptors "\$@"$/,$d' cairn >functions.sh
            source ./functions.sh
            rm functions.sh
            """;

    private static readonly string[] ScriptPrograms =
        ["bash", "cat", "chmod", "cksum", "cut", "find", "flock", "grep", "ls", "mkdir", "mv", "paste", "readlink", "rm", "sort", "tail", "tr"];

    private static readonly string[] Compilers = [LinksProbe, "as", "ld", "ld.bfd", "objcopy"];

    private readonly string _root = Directory.CreateTempSubdirectory("cairn-launcher-").FullName;
    private readonly string _programs;
    private readonly string _fake;

    public LauncherBuildTests()
    {
        _programs = Directory.CreateDirectory(Path.Combine(_root, "programs")).FullName;
        _fake = Directory.CreateDirectory(Path.Combine(_root, "fake")).FullName;
        Link(ScriptPrograms);

        // BUILDS lists the builds. A build fails, waits, or changes the source, if the test says so by a file.
        var dotnet = Path.Combine(_programs, "dotnet");
        File.WriteAllText(dotnet, $$"""
            #!{{FindOnPath("bash")}}
            fake={{_fake}}
            [[ $1 == publish ]] || { echo 10.0.100; exit; }
            kind=r2r level=
            while (($# > 0)); do
              [[ $1 != --output ]] || output=$2
              [[ $1 != -p:PublishAot=true ]] || kind=native
              [[ $1 != -p:IlcInstructionSet=* ]] || level=${1#*=}
              shift
            done
            text=$(cat {{Source}})
            echo "$kind" >>"$fake/builds"
            echo "$level" >>"$fake/levels"
            [[ ! -e $fake/fails-$kind ]] || exit 1
            [[ ! -p $fake/gate ]] || read -r _ <"$fake/gate"
            if [[ -e $fake/edit ]]; then mv "$fake/edit" {{Source}}; fi
            mkdir -p "$output"
            printf '#!/bin/sh\necho "%s %s"\n' "$kind" "$text" >"$output/cairn"
            chmod +x "$output/cairn"
            """);
        File.SetUnixFileMode(dotnet, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        NewClone("clone");
    }

    private string Clone => Path.Combine(_root, "clone");

    private string[] Builds => File.Exists(Path.Combine(_fake, "builds")) ? File.ReadAllLines(Path.Combine(_fake, "builds")) : [];

    public void Dispose() => Directory.Delete(_root, recursive: true);

    [RequiresToolFact(LinksProbe)]
    public async Task Tool_is_native_as_soon_as_the_machine_can_link_it()
    {
        var without = await RunAsync();
        var again = await RunAsync();
        Link(Compilers);
        var with = await RunAsync();

        Assert.Equal((0, "r2r one\n"), (without.ExitCode, without.Output));
        Assert.Equal(2, without.Errors.Count(character => character == '\n'));
        Assert.Contains("this is not the native binary", without.Errors, StringComparison.Ordinal);
        Assert.Contains("apt-get install gcc libc6-dev", without.Errors, StringComparison.Ordinal);
        Assert.Equal(new ProgramRun(0, "r2r one\n", ""), again);
        Assert.Equal(new ProgramRun(0, "native one\n", "Building Cairn (the compilers of this machine changed), which takes a minute or two.\n"), with);
        Assert.Equal(["r2r", "native"], Builds);
    }

    [RequiresToolFact(LinksProbe)]
    public async Task Native_build_uses_the_level_of_the_processor()
    {
        Link(Compilers);
        bool isNew = Avx2.IsSupported && Bmi1.IsSupported && Bmi2.IsSupported && Fma.IsSupported && Lzcnt.IsSupported;

        await RunAsync();

        Assert.Equal(isNew ? "x86-64-v3" : "", Assert.Single(await File.ReadAllLinesAsync(Path.Combine(_fake, "levels"))));
        string built = Assert.Single(Directory.GetDirectories(Path.Combine(Clone, "artifacts", "tool")));
        Assert.EndsWith(isNew ? "-native-v3" : "-native", built, StringComparison.Ordinal);
    }

    [RequiresToolFact(LinksProbe)]
    public async Task Build_for_a_newer_processor_is_not_found_by_an_older_one()
    {
        var run = await ProgramRun.FinishAsync(ProgramRun.Outside("bash", Clone, "-c", $$"""
            set -e
            {{Functions}}
            mkdir -p "$tools/1-2-native-v3"
            printf '#!/bin/sh\n' >"$tools/1-2-native-v3/cairn"
            chmod +x "$tools/1-2-native-v3/cairn"
            for level in -v3 ''; do find_build 1-2; echo "$folder"; done
            """));

        Assert.Equal(new ProgramRun(0, "1-2-native-v3\n\n", ""), run);
    }

    [RequiresToolFact(LinksProbe)]
    public async Task Native_build_that_fails_is_tried_again_only_with_other_sources()
    {
        Link(Compilers);
        await File.WriteAllTextAsync(Path.Combine(_fake, "fails-native"), "");

        var failed = await RunAsync();
        var again = await RunAsync();
        await File.WriteAllTextAsync(Path.Combine(Clone, Source), "two");
        var changed = await RunAsync();

        Assert.Equal("r2r one\n", failed.Output);
        Assert.Contains("the native build failed: see ", failed.Errors, StringComparison.Ordinal);
        Assert.Equal(new ProgramRun(0, "r2r one\n", ""), again);
        Assert.Equal("r2r two\n", changed.Output);
        Assert.Equal(["native", "r2r", "native", "r2r"], Builds);
    }

    [Fact]
    public async Task Sources_that_change_during_a_build_are_built_again()
    {
        await File.WriteAllTextAsync(Path.Combine(_fake, "edit"), "two");

        var run = await RunAsync();

        Assert.Equal("r2r two\n", run.Output);
        Assert.Equal(["r2r", "r2r"], Builds);
    }

    [Fact]
    public async Task Build_that_outlives_its_script_keeps_the_next_one_waiting()
    {
        Assert.Equal(0, (await ProgramRun.FinishAsync(ProgramRun.Outside("mkfifo", _fake, "gate"))).ExitCode);
        using var killed = Process.Start(Launch())!;
        await Eventually.TrueAsync(() => Builds.Length == 1, "the first build begins");
        killed.Kill();
        await killed.WaitForExitAsync();
        await File.WriteAllTextAsync(Path.Combine(Clone, Source), "two");

        var next = Launch();
        next.RedirectStandardError = next.RedirectStandardOutput = true;
        using var waiting = Process.Start(next)!;
        Assert.Equal("Waiting for another run, which builds Cairn.", await waiting.StandardError.ReadLineAsync());
        Assert.Single(Builds);
        await OpenGateAsync();
        await Eventually.TrueAsync(() => Builds.Length == 2, "the second build begins");
        await OpenGateAsync();

        Assert.Equal("r2r two\n", await waiting.StandardOutput.ReadToEndAsync());
        await waiting.WaitForExitAsync();
        var kept = Assert.Single(Directory.GetDirectories(Path.Combine(Clone, "artifacts", "tool")));
        Assert.EndsWith("-r2r", kept, StringComparison.Ordinal);
    }

    /// <summary>Each kind of change happens in a clone whose run reads no source before it. There is no dotnet, so a run that notices it fails.</summary>
    [RequiresToolFact(LinksProbe)]
    public async Task Each_change_of_the_sources_is_noticed_although_an_ordinary_run_reads_none()
    {
        var asked = Directory.CreateDirectory(Path.Combine(_root, "bare")).FullName;
        File.CreateSymbolicLink(Path.Combine(asked, "bash"), FindOnPath("bash"));
        File.Delete(Path.Combine(_programs, "dotnet"));
        var changes = Changes();
        await Task.WhenAll(changes.Keys.Select(async name =>
        {
            await InstallAsync(NewClone(name));
            await Eventually.TrueAsync(
                async () =>
                {
                    Assert.Equal(new ProgramRun(0, "installed\n", ""), await RunAsync(name));
                    return (await RunAsync(name, asked)).ExitCode == 0;
                },
                "a run without find and cksum, which the checksum takes");
        }));

        foreach (var (name, change) in changes)
        {
            change(Path.Combine(_root, name));
            var run = await RunAsync(name);
            Assert.True(run.ExitCode == LauncherFailed && run.Errors.Contains(".NET SDK 10.0", StringComparison.Ordinal), $"not noticed: {name}: {run}");
        }
    }

    [RequiresToolFact(LinksProbe)]
    public async Task Sources_that_are_changed_back_have_the_build_of_before()
    {
        await InstallAsync(Clone);
        var source = Path.Combine(Clone, Source);

        File.SetLastWriteTimeUtc(source, DateTime.UtcNow.AddHours(1));
        var touched = await RunAsync();
        await File.WriteAllTextAsync(source, "two");
        await File.WriteAllTextAsync(source, "one");
        var restored = await RunAsync();

        Assert.Equal("installed\n", touched.Output);
        Assert.Equal("installed\n", restored.Output);
        Assert.Empty(Builds);
    }

    private static Dictionary<string, Action<string>> Changes() => new()
    {
        ["edited"] = root => File.WriteAllText(Path.Combine(root, Source), "longer"),
        ["edited-with-its-size-and-time"] = root =>
        {
            var time = File.GetLastWriteTimeUtc(Path.Combine(root, Source));
            File.WriteAllText(Path.Combine(root, Source), "two");
            File.SetLastWriteTimeUtc(Path.Combine(root, Source), time);
        },
        ["added"] = root => File.WriteAllText(Path.Combine(root, "src/Cairn.Cli/More.cs"), ""),
        ["added-in-a-new-folder"] = root => File.WriteAllText(Path.Combine(Directory.CreateDirectory(Path.Combine(root, "src/More")).FullName, "More.cs"), ""),
        ["deleted"] = root => File.Delete(Path.Combine(root, "src/Cairn.Cli/Other.cs")),
        ["renamed"] = root => File.Move(Path.Combine(root, "src/Cairn.Cli/Other.cs"), Path.Combine(root, "src/Cairn.Cli/Another.cs")),
        ["replaced-by-an-older-file"] = root =>
        {
            var older = Path.Combine(root, "older");
            File.WriteAllText(older, "old");
            File.SetLastWriteTimeUtc(older, DateTime.UtcNow.AddYears(-1));
            File.Move(older, Path.Combine(root, Source), overwrite: true);
        },
        ["changed-props"] = root => File.AppendAllText(Path.Combine(root, "Directory.Build.props"), " "),
        ["new-targets"] = root => File.WriteAllText(Path.Combine(root, "Directory.Build.targets"), "<Project />"),
        ["changed-script"] = root => File.AppendAllText(Path.Combine(root, "cairn"), "# more\n"),
    };

    private string NewClone(string name)
    {
        var root = Path.Combine(_root, name);
        Directory.CreateDirectory(Path.Combine(root, "src/Cairn.Cli/obj"));
        File.Copy(Path.Combine(Repository.Root, "cairn"), Path.Combine(root, "cairn"));
        foreach (var file in (string[])["global.json", "Directory.Build.props", "Directory.Packages.props", "src/Cairn.Cli/Other.cs", "src/Cairn.Cli/obj/made"])
        {
            File.WriteAllText(Path.Combine(root, file), "");
        }

        File.WriteAllText(Path.Combine(root, Source), "one");
        return root;
    }

    // The files that a native build leaves.
    private async Task InstallAsync(string root)
    {
        var run = await ProgramRun.FinishAsync(ProgramRun.Outside("bash", root, "-c", $$"""
            set -e
            {{Functions}}
            folder=$tools/$(key_of_sources)-native
            mkdir -p "$folder"
            printf '#!/bin/sh\necho installed\n' >"$folder/cairn"
            chmod +x "$folder/cairn"
            find_compiler
            [[ -z $problem ]]
            compile_seen "$tools/seen"
            """));
        Assert.True(run.ExitCode == 0, run.Everything);
    }

    private Task OpenGateAsync() => File.AppendAllTextAsync(Path.Combine(_fake, "gate"), "open\n");

    private ProcessStartInfo Launch(string clone = "clone", string? path = null)
    {
        var start = ProgramRun.Outside(FindOnPath("bash"), _root, Path.Combine(_root, clone, "cairn"));
        start.Environment["PATH"] = path ?? _programs;
        return start;
    }

    private Task<ProgramRun> RunAsync(string clone = "clone", string? path = null) => ProgramRun.FinishAsync(Launch(clone, path));

    private void Link(IEnumerable<string> programs)
    {
        foreach (var program in programs)
        {
            File.CreateSymbolicLink(Path.Combine(_programs, program), FindOnPath(program));
        }
    }

    private static string FindOnPath(string program) =>
        Environment.GetEnvironmentVariable("PATH")!.Split(Path.PathSeparator).Select(directory => Path.Combine(directory, program)).First(File.Exists);
}
