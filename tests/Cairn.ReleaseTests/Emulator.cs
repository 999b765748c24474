namespace Cairn.ReleaseTests;

/// <summary>Runs programs for arm64 on x64: qemu-user, with the C library of Debian's cross compiler. It does not show weak memory ordering.</summary>
internal static class Emulator
{
    private const string Program = "/usr/bin/qemu-aarch64-static";
    private const string Library = "/usr/aarch64-linux-gnu";

    private static readonly SemaphoreSlim s_gate = new(1);
    private static string? s_selfTest;

    private static readonly string s_openSsl = RepositoryFile.At("artifacts", "release-tests-arm64", "openssl");

    /// <summary>Gets the words before the path of a program.</summary>
    public static string[] Command { get; } = [Program, "-L", Library, "-E", $"LD_LIBRARY_PATH={s_openSsl}/usr/lib/aarch64-linux-gnu"];

    /// <summary>Gets the reason why no program can run, or null if programs can run.</summary>
    public static string? WhyNot { get; } =
        !Release.IsComplete ? ReleaseFactAttribute.WhySkipped
        : !File.Exists(Program) ? "NOT RUN: nothing here runs programs for arm64; install qemu-user-static"
        : !Directory.Exists(Library) ? "NOT RUN: programs for arm64 have no C library here; install libc6-dev-arm64-cross"
        : null;

    /// <summary>Runs tests of the store, in a native program for arm64. They start the program as a second process, too.</summary>
    public static async Task<ProgramRun> RunSelfTestAsync(string classes)
    {
        await s_gate.WaitAsync();
        try
        {
            s_selfTest ??= await BuildSelfTestAsync();
        }
        finally
        {
            s_gate.Release();
        }

        string[] program = [.. Command, s_selfTest];
        var start = ProgramRun.Outside(program[0], RepositoryFile.Root, [.. program.Skip(1), "run-tests", .. classes.Split(' ')]);
        start.Environment["CAIRN_TEST_HOST"] = string.Join(' ', program);
        return await ProgramRun.FinishAsync(start);
    }

    private static async Task<string> BuildSelfTestAsync()
    {
        // The cross compiler brings no OpenSSL, so it comes from Debian's package for arm64. The lists of packages are this folder's own.
        Directory.CreateDirectory(s_openSsl);
        await Release.RunAsync(s_openSsl, "bash", "-c", """
            set -e
            mkdir -p lists/partial cache/archives/partial
            options=(-qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::State::lists=$PWD/lists" -o "Dir::Cache=$PWD/cache")
            [[ -e usr/lib ]] || { apt-get "${options[@]}" update; apt-get "${options[@]}" download libssl3; dpkg-deb --extract libssl3*.deb .; }
            """);
        string folder = RepositoryFile.At("artifacts", "release-tests-arm64", "program");
        await Release.RunAsync(
            RepositoryFile.Root, "dotnet", "publish", RepositoryFile.At("tests", "Cairn.Tests", "Cairn.Tests.csproj"), "--configuration", "Release",
            "--runtime", "linux-arm64", "--artifacts-path", "artifacts/release-build/arm64", "--output", folder, "-p:PublishAot=true", "-p:LinkerFlavor=lld",
            "-p:ObjCopyName=aarch64-linux-gnu-objcopy", "-p:DebugType=none", "-p:RunAnalyzers=false", "-p:UseSharedCompilation=false", "-nodeReuse:false",
            "-nologo", "-verbosity:quiet");
        return Path.Combine(folder, "Cairn.Tests");
    }
}

/// <summary>A fact about programs for arm64. It runs only with CAIRN_RELEASE=1 and an emulator.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class EmulatorFactAttribute : FactAttribute
{
    public EmulatorFactAttribute() => Skip = Emulator.WhyNot;
}

/// <summary>A theory with the condition of <see cref="EmulatorFactAttribute"/>.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class EmulatorTheoryAttribute : TheoryAttribute
{
    public EmulatorTheoryAttribute() => Skip = Emulator.WhyNot;
}
