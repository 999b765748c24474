using System.Diagnostics;
using System.Globalization;
using System.Text.RegularExpressions;
using Cairn.Server;

namespace Cairn.Cli.Tests.Serving;

/// <summary>The repository's deployment files, checked against the tool that they start.</summary>
public sealed partial class DeploymentTests : ToolTest
{
    [Fact]
    public void Unit_starts_the_server_with_options_that_it_has()
    {
        string command = Assert.Single(Lines("cairn.service"), line => line.StartsWith("ExecStart=", StringComparison.Ordinal));
        string[] words = command["ExecStart=".Length..].Split(' ');

        ToolRun run = Run([.. words.Skip(1), "--check"]);

        Assert.EndsWith("/cairn", words[0], StringComparison.Ordinal);
        Assert.Equal((ExitCode.Done, ""), (run.Code, run.Error));
    }

    [Fact]
    public void Unit_waits_until_the_server_says_that_it_is_ready() => Assert.Contains("Type=notify", Lines("cairn.service"));

    [RequiresToolFact("systemd-analyze")]
    public async Task Unit_has_no_mistakes_that_systemd_finds()
    {
        string unit = PathOf("cairn.service");
        await File.WriteAllLinesAsync(unit, Lines("cairn.service").Select(line => line.Replace("/usr/local/bin/cairn", "/bin/true", StringComparison.Ordinal)));

        ProgramRun run = await ProgramRun.FinishAsync(new ProcessStartInfo("systemd-analyze", ["verify", unit]));

        // It also reports mistakes in units of the machine.
        Assert.DoesNotContain("cairn.service", run.Everything, StringComparison.Ordinal);
    }

    [Fact]
    public void Store_of_the_unit_lies_where_the_service_manager_says()
    {
        TestConsole console = NewConsole();
        console.Environment.Remove("CAIRN_STORE");
        console.Environment["STATE_DIRECTORY"] = PathOf("state");

        ToolRun run = Run(console, "serve", "--check", "--json");

        Assert.Equal(Path.Combine(PathOf("state"), "server.cairn"), run.Json.GetProperty("store").GetString());
    }

    [Fact]
    public void Image_requires_a_setting_for_access_and_then_serves()
    {
        ToolRun refused = Run(ConsoleOfImage(), "serve", "--check");
        TestConsole console = ConsoleOfImage();
        console.Environment["CAIRN_INSECURE"] = "on";
        ToolRun served = Run(console, "serve", "--check", "--json");

        Assert.Equal(ExitCode.Server, refused.Code);
        Assert.Contains("--insecure", refused.Error, StringComparison.Ordinal);
        Assert.Equal((ExitCode.Done, "*:11211", "*:6379"), (served.Code, served.Json.GetProperty("memcached").GetString(), served.Json.GetProperty("resp").GetString()));
    }

    [Fact]
    public void Manifest_sets_variables_that_the_server_accepts()
    {
        TestConsole console = NewConsole();
        foreach ((string name, string value) in VariablesOfManifest().Where(variable => variable.Name != "CAIRN_STORE"))
        {
            console.Environment[name] = value;
        }

        ToolRun run = Run(console, "serve", "--check", "--json");

        Assert.Equal((ExitCode.Done, ""), (run.Code, run.Error));
        Assert.Equal(
            ("*:11211", "*:6379", "*:8080"),
            (run.Json.GetProperty("memcached").GetString(), run.Json.GetProperty("resp").GetString(), run.Json.GetProperty("http").GetString()));
    }

    [Fact]
    public void Manifest_opens_the_ports_that_the_server_listens_on()
    {
        string manifest = Manifest();
        string[] listening = [.. VariablesOfManifest().Where(variable => variable.Value.StartsWith("*:", StringComparison.Ordinal)).Select(variable => variable.Value[2..]).Order(StringComparer.Ordinal)];

        Assert.Equal(listening, ContainerPort().Matches(manifest).Select(port => port.Groups[1].Value).Order(StringComparer.Ordinal));
        Assert.Equal(listening, ServicePort().Matches(manifest).Select(port => port.Groups[1].Value).Order(StringComparer.Ordinal));
    }

    [Fact]
    public void Manifest_keeps_the_store_on_its_volume_with_room_and_memory_for_it()
    {
        string manifest = Manifest();
        var variables = VariablesOfManifest().ToDictionary(StringComparer.Ordinal);
        long capacity = GibibytesOf(variables["CAIRN_CAPACITY"]);
        long volume = long.Parse(Storage().Match(manifest).Groups[1].Value, CultureInfo.InvariantCulture);
        long memoryMiB = long.Parse(Memory().Match(manifest).Groups[1].Value, CultureInfo.InvariantCulture);

        Assert.StartsWith(MountPath().Match(manifest).Groups[1].Value + "/", variables["CAIRN_STORE"], StringComparison.Ordinal);
        Assert.True(volume > capacity, "The volume has no room beside the store.");
        Assert.True(memoryMiB > (capacity << 10) + 256, "The memory is less than the store and the buffers.");
    }

    [Theory]
    [InlineData("/health/live")]
    [InlineData("/health/ready")]
    public async Task Probes_of_the_manifest_ask_for_a_path_that_a_ready_server_answers(string path)
    {
        Assert.Contains($"path: {path},", Manifest(), StringComparison.Ordinal);
        await using CairnServer server = await CairnServer.StartAsync(
            new ServerOptions { IsEphemeral = true, CapacityBytes = 8 << 20, Memcached = "127.0.0.1:0", Resp = null, Http = "127.0.0.1:0" },
            http: insight => new Dashboard.CairnDashboard(insight));
        using var http = new HttpClient();

        using HttpResponseMessage answer = await http.GetAsync(new Uri($"http://{server.Addresses.First(address => address.Key == "http").Value}{path}"));

        Assert.Equal(System.Net.HttpStatusCode.OK, answer.StatusCode);
    }

    private static string Manifest() => File.ReadAllText(RepositoryFile.At("deploy", "kubernetes", "cairn.yaml"));

    private static IEnumerable<(string Name, string Value)> VariablesOfManifest() =>
        Variable().Matches(Manifest()).Select(variable => (variable.Groups[1].Value, variable.Groups[2].Value.Trim('"')));

    private static long GibibytesOf(string size)
    {
        Assert.EndsWith("GiB", size, StringComparison.Ordinal);
        return long.Parse(size[..^3], CultureInfo.InvariantCulture);
    }

    // The variables of the image's ENV instruction, except the path of the store.
    private TestConsole ConsoleOfImage()
    {
        TestConsole console = NewConsole();
        foreach (string line in Lines("Containerfile"))
        {
            string[] parts = line.Replace("ENV ", "", StringComparison.Ordinal).TrimEnd('\\', ' ').Trim().Split('=', 2);
            if (parts.Length == 2 && parts[0].StartsWith("CAIRN_", StringComparison.Ordinal) && parts[0] != "CAIRN_STORE")
            {
                console.Environment[parts[0]] = parts[1];
            }
        }

        return console;
    }

    private static string[] Lines(string name) => File.ReadAllLines(RepositoryFile.At("deploy", name));

    [GeneratedRegex(@"\{ name: (CAIRN_\w+), value: (.+?) \}")]
    private static partial Regex Variable();

    [GeneratedRegex(@"containerPort: (\d+)")]
    private static partial Regex ContainerPort();

    [GeneratedRegex(@"name: \w+, port: (\d+) \}")]
    private static partial Regex ServicePort();

    [GeneratedRegex(@"requests: \{ storage: (\d+)Gi \}")]
    private static partial Regex Storage();

    [GeneratedRegex(@"requests: .*memory: (\d+)Mi")]
    private static partial Regex Memory();

    [GeneratedRegex(@"mountPath: (\S+) ")]
    private static partial Regex MountPath();
}
