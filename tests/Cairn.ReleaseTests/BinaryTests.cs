using System.Diagnostics;
using System.Net.Sockets;
using System.Text;
using System.Text.RegularExpressions;

namespace Cairn.ReleaseTests;

/// <summary>The native binaries, on a machine without .NET.</summary>
public sealed partial class BinaryTests(MadeBinaries made) : IClassFixture<MadeBinaries>
{
    private const long MostBytes = 20_000_000;
    private const long MostResidentBytes = 20 << 20;

    // The program cannot find dotnet: neither on the PATH nor through environment variables.
    private static readonly Dictionary<string, string> WithoutDotnet = new(StringComparer.Ordinal) { ["PATH"] = "/nonexistent" };

    [ReleaseFact]
    public async Task Archive_works_on_a_store_and_serves_without_dotnet()
    {
        using var directory = new TestDirectory();

        await ServeAndAskAsync([await made.UnpackAsync("linux-x64", directory)], directory);
    }

    [ReleaseTheory]
    [InlineData("linux-x64")]
    [InlineData("linux-x64-v3")]
    [InlineData("linux-arm64")]
    public async Task Archive_has_one_stripped_binary_of_at_most_20_MB_for_the_glibc_that_the_documentation_names(string target)
    {
        using var directory = new TestDirectory();
        var tool = await made.UnpackAsync(target, directory);

        var symbols = await Release.RunAsync(directory.Path, "readelf", "--wide", "--dyn-syms", tool);
        var sections = await Release.RunAsync(directory.Path, "readelf", "--wide", "--sections", tool);
        var libraries = NeededLibrary().Matches(await Release.RunAsync(directory.Path, "readelf", "--wide", "--dynamic", tool)).Select(match => match.Groups[1].Value);
        var newest = GlibcOfSymbol().Matches(symbols).Select(match => Version.Parse(match.Groups[1].Value)).Max();

        Assert.InRange(new FileInfo(tool).Length, 1, MostBytes);
        Assert.DoesNotContain(".symtab", sections, StringComparison.Ordinal);
        Assert.Empty(Directory.GetFiles(Path.GetDirectoryName(tool)!, "*.dll"));
        Assert.All(libraries, library => Assert.Matches("^(libc|libm|ld-linux-.*)\\.so", library));
        Assert.Contains($"glibc {newest} or later", await File.ReadAllTextAsync(RepositoryFile.At("docs", "platforms.md")), StringComparison.Ordinal);
    }

    [ReleaseTheory]
    [InlineData("linux-musl-x64", "cairn", "tar.gz")]
    [InlineData("osx-arm64", "cairn", "tar.gz")]
    public async Task Archive_without_a_native_binary_brings_its_runtime(string target, string executable, string extension)
    {
        var files = (await Release.RunAsync(RepositoryFile.Root, "tar", "-tzf", made.Made($"cairn-*-{target}.{extension}"))).Split('\n').Select(Path.GetFileName).ToList();

        Assert.All([executable, "Cairn.Server.dll", "System.Private.CoreLib.dll", "THIRD-PARTY-NOTICES.txt"], file => Assert.Contains(file, files));
    }

    [EmulatorFact]
    public async Task Binary_for_arm64_works_on_a_store_and_serves_under_an_emulator()
    {
        using var directory = new TestDirectory();
        var tool = await made.UnpackAsync("linux-arm64", directory);

        await ServeAndAskAsync([.. Emulator.Command, tool], directory);
    }

    [EmulatorFact]
    public async Task Processes_of_two_architectures_write_one_store()
    {
        using var directory = new TestDirectory();
        var store = directory["shared.cairn"];
        string[] native = [await made.UnpackAsync("linux-x64", directory)];
        string[] emulated = [.. Emulator.Command, await made.UnpackAsync("linux-arm64", directory)];
        await RunToolAsync(native, "set", "--store", store, "first", "0");

        await Task.WhenAll(Enumerable.Range(0, 8).Select(async writer =>
        {
            for (var i = 0; i < 5; i++)
            {
                await RunToolAsync(writer % 2 == 0 ? native : emulated, "set", "--store", store, $"key:{writer}:{i}", $"value {writer} {i}");
            }
        }));

        foreach (var (writer, i) in Enumerable.Range(0, 40).Select(n => (n / 5, n % 5)))
        {
            Assert.Equal($"value {writer} {i}", await RunToolAsync(writer % 2 == 0 ? emulated : native, "get", "--store", store, $"key:{writer}:{i}"));
        }

        await RunToolAsync(native, "verify", "--store", store);
        await RunToolAsync(emulated, "verify", "--store", store);

        async Task<string> RunToolAsync(string[] tool, params string[] arguments)
        {
            var run = await Release.TryRunAsync(directory.Path, environment: null, tool[0], [.. tool.Skip(1), .. arguments]);
            Assert.True(run.ExitCode == 0, run.Everything);
            return run.Output;
        }
    }

    /// <summary>A native program with the tests of the store, that runs them under an emulator: hashes, checksums, encryption, locks, processes.</summary>
    [EmulatorTheory]
    [InlineData("Storage.ValueChecksumTests Storage.KeyHashTests Encryption.SipHashTests Encryption.EncryptedStoreTests", 20)]
    [InlineData("Platform.EverySystemTests Platform.ByteLockTests Platform.WaitOnAddressTests", 20)]
    [InlineData("GetTests SetTests ConditionalWriteTests IncrementTests ManyTests ExpirationTests PeekTests PinTests ScanTests", 100)]
    [InlineData("Opening.ClosingTests Concurrency.TakeoverTests Engine.HoldTests Leasing.LeaseTests Eviction.PinOfDeadOwnerTests", 30)]
    [InlineData("WriteAhead.StoreLogTests Offline.VerifyTests Maps.DurableMapTests Maps.MapSharingTests", 40)]
    public async Task Tests_of_the_store_pass_as_a_native_program_for_arm64(string classes, int fewest)
    {
        var run = await Emulator.RunSelfTestAsync(classes);

        var last = run.Output.TrimEnd().Split('\n')[^1];
        Assert.True(run.ExitCode == 0 && last.EndsWith(" passed, 0 failed", StringComparison.Ordinal), run.Everything);
        Assert.True(int.Parse(last.Split(' ')[0]) >= fewest, run.Output);
    }

    [ReleaseFact]
    public async Task Debian_package_for_arm64_has_its_binary_and_says_so()
    {
        using var directory = new TestDirectory();
        await Release.RunAsync(directory.Path, "dpkg-deb", "--extract", made.DebianPackageForArm64, directory["root"]);

        var architecture = await Release.RunAsync(directory.Path, "dpkg-deb", "--field", made.DebianPackageForArm64, "Architecture");
        var header = await Release.RunAsync(directory.Path, "readelf", "--file-header", directory["root/usr/bin/cairn"]);

        Assert.Equal("arm64\n", architecture);
        Assert.Contains("AArch64", header, StringComparison.Ordinal);
    }

    [ReleaseFact]
    public async Task Debian_package_installs_keeps_settings_and_leaves_nothing_when_purged()
    {
        using var directory = new TestDirectory();
        var root = PrepareRoot(directory);
        var settings = Path.Combine(root, "etc/cairn/server.env");

        await DpkgAsync(root, "--install", made.DebianPackage);
        Assert.Contains("\ncairn:x:", await File.ReadAllTextAsync(Path.Combine(root, "etc/passwd")), StringComparison.Ordinal);
        var unit = await File.ReadAllTextAsync(Path.Combine(root, "lib/systemd/system/cairn.service"));
        Assert.Contains("ExecStart=/usr/bin/cairn serve\n", unit, StringComparison.Ordinal);
        Assert.Contains("User=cairn\n", unit, StringComparison.Ordinal);
        Assert.DoesNotContain("DynamicUser", unit, StringComparison.Ordinal);
        await ServeAndAskAsync([Path.Combine(root, "usr/bin/cairn")], directory);

        await File.WriteAllTextAsync(settings, "CAIRN_CAPACITY=1GiB\n");
        await DpkgAsync(root, "--install", made.DebianPackage);
        Assert.Equal("CAIRN_CAPACITY=1GiB\n", await File.ReadAllTextAsync(settings));

        var store = Directory.CreateDirectory(Path.Combine(root, "var/lib/cairn")).FullName;
        await DpkgAsync(root, "--remove", "cairn");
        Assert.True(Directory.Exists(store));
        Assert.True(File.Exists(settings));
        await DpkgAsync(root, "--purge", "cairn");
        Assert.False(Directory.Exists(store));
        Assert.False(Directory.Exists(Path.Combine(root, "etc/cairn")));
        Assert.False(Path.Exists(Path.Combine(root, "usr/bin/cairn")));
    }

    [ReleaseFact]
    public async Task Debian_package_satisfies_lintian()
    {
        if (!File.Exists("/usr/bin/lintian"))
        {
            return; // Not every Debian has lintian. Another test installs and runs the package.
        }

        var run = await Release.TryRunAsync(RepositoryFile.Root, environment: null, "lintian", "--allow-root", made.DebianPackage);

        Assert.Equal((0, ""), (run.ExitCode, run.Output));
    }

    [ReleaseFact]
    public async Task Tool_package_and_manual_say_the_same_version()
    {
        using var directory = new TestDirectory();
        var version = (await Release.RunAsync(RepositoryFile.Root, "dotnet", "msbuild", "src/Cairn/Cairn.csproj", "-getProperty:Version")).Trim();
        await Release.RunAsync(directory.Path, "dpkg-deb", "--extract", made.DebianPackage, directory["root"]);

        var tool = await Release.RunAsync(directory.Path, directory["root/usr/bin/cairn"], "--version");
        var package = await Release.RunAsync(directory.Path, "dpkg-deb", "--field", made.DebianPackage, "Version");
        var manual = await Release.RunAsync(directory.Path, "gzip", "-dc", directory["root/usr/share/man/man1/cairn.1.gz"]);

        Assert.Equal($"cairn {version}\n", tool);
        Assert.Equal($"{version.Replace('-', '~')}\n", package);
        Assert.Matches($"^\\.TH CAIRN 1 \"\\d{{4}}-\\d{{2}}-\\d{{2}}\" \"Cairn {Regex.Escape(version)}\" ", manual);
        Assert.Contains($"cairn-{version}-linux-x64.tar.gz", made.Archive("linux-x64"), StringComparison.Ordinal);
    }

    private static async Task ServeAndAskAsync(string[] tool, TestDirectory directory)
    {
        var store = directory["books.cairn"];
        Assert.Equal(0, (await TryRunAsync("set", "--store", store, "book:42", "Dune")).ExitCode);
        using var server = Process.Start(Release.StartOf(directory.Path, WithoutDotnet, tool[0],
        [
            .. tool.Skip(1), "serve", "--store", store, "--memcached", $"unix:{directory["memcached.sock"]}", "--resp", $"unix:{directory["resp.sock"]}",
            "--http", "off",
        ]))!;
        var said = "";
        while (!said.Contains("Listening for resp", StringComparison.Ordinal) && await server.StandardError.ReadLineAsync() is { } line)
        {
            said += line + "\n";
        }

        Assert.False(server.HasExited, said);
        Assert.Equal("VALUE book:42 0 4\r\nDune\r\nEND\r\n", await AskAsync("memcached.sock", "get book:42\r\nquit\r\n"));
        Assert.Equal("$4\r\nDune\r\n:1\r\n+OK\r\n", await AskAsync("resp.sock", "GET book:42\r\nEXISTS book:42\r\nQUIT\r\n"));
        if (tool.Length == 1)
        {
            // An emulator has memory of its own. The server gives back the pages of its start when clients can connect.
            await Eventually.TrueAsync(() => IsSmall(server), $"the idle server has at most {MostResidentBytes} bytes resident");
        }

        server.Kill();
        await server.WaitForExitAsync();

        static bool IsSmall(Process process)
        {
            process.Refresh();
            return process.WorkingSet64 is > 0 and <= MostResidentBytes;
        }

        Task<ProgramRun> TryRunAsync(params string[] arguments) =>
            Release.TryRunAsync(directory.Path, WithoutDotnet, tool[0], [.. tool.Skip(1), .. arguments]);

        async Task<string> AskAsync(string socket, string requests)
        {
            using var client = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
            await client.ConnectAsync(new UnixDomainSocketEndPoint(directory[socket]));
            await using var stream = new NetworkStream(client);
            await stream.WriteAsync(Encoding.ASCII.GetBytes(requests));
            using var reader = new StreamReader(stream);
            return await reader.ReadToEndAsync();
        }
    }

    [GeneratedRegex(@"GLIBC_(\d+\.\d+)")]
    private static partial Regex GlibcOfSymbol();

    [GeneratedRegex(@"\(NEEDED\).*\[(.+)\]")]
    private static partial Regex NeededLibrary();

    // Creates the folders that dpkg and useradd expect.
    private static string PrepareRoot(TestDirectory directory)
    {
        var root = Directory.CreateDirectory(directory["root"]).FullName;
        foreach (var folder in (string[])["etc", "var/lib/dpkg/updates", "var/lib/dpkg/info", "var/lib/dpkg/triggers", "var/log"])
        {
            Directory.CreateDirectory(Path.Combine(root, folder));
        }

        File.WriteAllText(Path.Combine(root, "var/lib/dpkg/status"), "");
        File.WriteAllText(Path.Combine(root, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n");
        File.WriteAllText(Path.Combine(root, "etc/group"), "root:x:0:\n");
        File.WriteAllText(Path.Combine(root, "etc/shadow"), "");
        File.WriteAllText(Path.Combine(root, "etc/gshadow"), "");
        return root;
    }

    private static Task<string> DpkgAsync(string root, params IEnumerable<string> arguments) =>
        Release.RunAsync(root, "fakeroot", ["dpkg", $"--root={root}", "--force-depends", "--force-script-chrootless", "--force-confold", .. arguments]);
}
