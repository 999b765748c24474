using System.Diagnostics;
using System.Net.Sockets;
using System.Text.RegularExpressions;

namespace Cairn.ReleaseTests;

/// <summary>The tool with its own runtime, on a machine without .NET.</summary>
public sealed class BinaryTests(MadeBinaries made) : IClassFixture<MadeBinaries>
{
    // The program cannot find dotnet: neither on the PATH nor through environment variables.
    private static readonly Dictionary<string, string> WithoutDotnet = new(StringComparer.Ordinal) { ["PATH"] = "/nonexistent" };

    [ReleaseFact]
    public async Task Archive_works_on_a_store_and_serves_without_dotnet()
    {
        using var directory = new TestDirectory();
        await Release.RunAsync(directory.Path, "tar", "-xzf", made.Archive);
        var tool = Path.Combine(Directory.GetDirectories(directory.Path).Single(), "cairn");

        await ServeAndAskAsync(tool, directory);
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
        await ServeAndAskAsync(Path.Combine(root, "usr/bin/cairn"), directory);

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
        Assert.Contains($"cairn-{version}-linux-x64.tar.gz", made.Archive, StringComparison.Ordinal);
    }

    private static async Task ServeAndAskAsync(string tool, TestDirectory directory)
    {
        var store = directory["books.cairn"];
        Assert.Equal(0, (await Release.TryRunAsync(directory.Path, WithoutDotnet, tool, "set", "--store", store, "book:42", "Dune")).ExitCode);

        var start = Release.StartOf(directory.Path, WithoutDotnet, tool, "serve", "--store", store, "--memcached",
            $"unix:{directory["cairn.sock"]}", "--resp", "off", "--http", "off", "-d", "--pid-file", directory["cairn.pid"],
            "--log-file", directory["cairn.log"]);
        using (var launcher = Process.Start(start)!)
        {
            await launcher.WaitForExitAsync();
            Assert.Equal(0, launcher.ExitCode);
        }

        using var server = Process.GetProcessById(int.Parse(await File.ReadAllTextAsync(directory["cairn.pid"])));
        using (var client = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified))
        {
            await client.ConnectAsync(new UnixDomainSocketEndPoint(directory["cairn.sock"]));
            await using var stream = new NetworkStream(client);
            await stream.WriteAsync("get book:42\r\nquit\r\n"u8.ToArray());
            using var reader = new StreamReader(stream);
            Assert.Equal("VALUE book:42 0 4\r\nDune\r\nEND\r\n", await reader.ReadToEndAsync());
        }

        server.Kill();
        await server.WaitForExitAsync();
    }

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
