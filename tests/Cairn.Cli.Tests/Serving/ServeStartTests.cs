using System.Net;
using System.Net.Sockets;
using System.Text.RegularExpressions;

namespace Cairn.Cli.Tests.Serving;

/// <summary>The checks at start, the same checks with --check, and that a failed start leaves no files.</summary>
public sealed class ServeStartTests : ToolTest
{
    // Starts that fail because of options, a file, the store, or an address.
    public static TheoryData<string> Refusals =>
    [
        "--capacity 1", "--capacity 2TiB", "--capacity 1MiB --max-capacity 1TiB", "--max-value 128m", "--max-request 1", "--buffer-memory 1",
        "--memcached off --resp off", "--memcached *:0", "--memcached *:0 --memcached-users {users}", "--http *:0", "--memcached nowhere.invalid",
        "--tls-certificate {missing}", "--tls-certificate {users}", "--tls-key {users}", "--memcached-users {missing}", "--resp-users {missing}",
        "--pid-file {missing}/pid", "--pid-file {folder}", "--pid-file {pipe}", "--log-file {missing}/log", "--log-file {folder}",
        "--memcached-users /dev/zero", "--resp-users /dev/zero", "--tls-certificate /dev/zero", "--tls-certificate {certificate} --tls-key /dev/zero", "--config /dev/zero",
        "--store {missing}/store.cairn", "--store {folder}", "--store {users}", "--store {encrypted}",
    ];

    public static TheoryData<string> Obstacles =>
    [
        "--memcached {taken}", "--resp {taken}", "--both {taken}", "--http {taken}", "--memcached 127.0.0.1:0,{taken}", "--unix {folder}",
        "--unix {missing}/socket", "--unix {long}", "--memcached unix:{users}", "--memcached 192.0.2.1:0 --insecure",
        "--memcached {taken} --pid-file {pid}", "--memcached unix:{socket} --resp {taken} --pid-file {pid}",
    ];

    [Theory]
    [MemberData(nameof(Refusals))]
    [MemberData(nameof(Obstacles))]
    public void Start_that_fails_leaves_no_new_file(string options)
    {
        using TcpListener other = Prepare();
        string[] before = FilesHere();

        ToolRun run = Serve(other, options);

        Assert.NotEqual(ExitCode.Done, run.Code);
        Assert.DoesNotContain("internal error", run.Error, StringComparison.Ordinal);
        Assert.Equal(before, FilesHere());
    }

    [Theory]
    [MemberData(nameof(Refusals))]
    public void Check_refuses_what_a_start_refuses_with_the_same_words(string options)
    {
        using TcpListener other = Prepare();
        string[] before = FilesHere();

        ToolRun start = Serve(other, options);
        ToolRun check = Serve(other, options + " --check");

        Assert.NotEqual(ExitCode.Done, check.Code);
        Assert.Equal((start.Code, LastLine(start)), (check.Code, LastLine(check)));
        Assert.Equal(before, FilesHere());
    }

    [Theory]
    [InlineData("-E")]
    [InlineData("-G")]
    [InlineData("-y")]
    public void Flag_that_memcached_does_not_have_is_an_error_that_names_it(string flag)
    {
        ToolRun run = Run("serve", flag, "1024");

        Assert.Equal(ExitCode.Usage, run.Code);
        Assert.Contains($"there is no option {flag};", run.Error, StringComparison.Ordinal);
        Assert.False(File.Exists(StorePath));
    }

    [Fact]
    public void Start_that_fails_says_why_in_the_log_file_too()
    {
        using TcpListener other = Prepare();
        string log = PathOf("server.log");

        ToolRun run = Serve(other, $"--memcached {{taken}} --log-file {log}");

        Assert.Equal(ExitCode.Server, run.Code);
        Assert.Contains("Another program listens on", run.Error, StringComparison.Ordinal);
        Assert.Contains(LastLine(run)["cairn: ".Length..], File.ReadAllText(log), StringComparison.Ordinal);
        Assert.False(File.Exists(StorePath));
    }

    [Fact]
    public void Start_that_fails_leaves_a_store_that_was_there_as_it_was()
    {
        Run("set", "book:42", "Dune", "--capacity", "8MiB");
        using TcpListener other = Prepare();

        ToolRun run = Serve(other, "--memcached {taken}");

        Assert.Equal(ExitCode.Server, run.Code);
        Assert.Equal("Dune", Run("get", "book:42").Output);
    }

    [Fact]
    public void Check_makes_no_folder_for_the_default_store()
    {
        TestConsole console = NewConsole();
        console.Environment.Remove("CAIRN_STORE");
        console.Environment["STATE_DIRECTORY"] = PathOf("state");

        ToolRun run = Run(console, "serve", "--check", "--json");

        Assert.Equal(Path.Combine(PathOf("state"), "server.cairn"), run.Json.GetProperty("store").GetString());
        Assert.False(Directory.Exists(PathOf("state")));
    }

    [Theory]
    [InlineData("-m", "100", "64 MiB", "100 MiB")]
    [InlineData("--capacity", "32MiB", "64 MiB", "32 MiB")]
    public void Store_of_another_size_than_requested_is_reported_with_the_command_that_changes_it(string option, string size, string existing, string wanted)
    {
        Run("create", "--capacity", "64MiB");

        ToolRun check = Run("serve", "--check", option, size);
        ToolRun start = Serve(null, $"{option} {size}");
        string command = Regex.Match(check.Error, "cairn (compact .*)").Groups[1].Value.Replace("'", "", StringComparison.Ordinal);
        ToolRun compact = Run(command.Split(' '));
        ToolRun after = Run("serve", "--check", option, size);

        Assert.Equal((ExitCode.Done, ExitCode.Done, ExitCode.Done), (check.Code, start.Code, compact.Code));
        Assert.Contains($"exists and keeps its size: {existing}", check.Error, StringComparison.Ordinal);
        Assert.Contains(wanted, check.Error, StringComparison.Ordinal);
        Assert.Contains($"exists and keeps its size: {existing}", start.Error, StringComparison.Ordinal);
        Assert.Equal((ExitCode.Done, ""), (after.Code, after.Error));
    }

    [Theory]
    [InlineData("set", "key", "value")]
    [InlineData("import")]
    public void Command_that_is_given_a_capacity_for_a_store_of_another_says_so(params string[] command)
    {
        Run("create", "--capacity", "8MiB");

        ToolRun run = Run([.. command, "--capacity", "100MiB"]);
        ToolRun same = Run([.. command, "--capacity", "8MiB"]);

        Assert.Contains("exists and keeps its size: 8 MiB", run.Error, StringComparison.Ordinal);
        Assert.Contains("--capacity 100MiB --max-capacity 100MiB", run.Error, StringComparison.Ordinal);
        Assert.Equal((ExitCode.Done, ExitCode.Done, ""), (run.Code, same.Code, same.Error));
    }

    [Theory]
    [InlineData("serve", "--key-file")]
    [InlineData("serve", "--password-file")]
    [InlineData("bench", "--key-file")]
    [InlineData("file", "--password-file")]
    public void Key_is_neither_offered_nor_taken_where_no_encrypted_store_is_opened(string command, string option)
    {
        ToolRun help = Run(command, "--help");
        ToolRun given = Run(command, option, PathOf("key"), "list", "file");

        Assert.DoesNotContain(option, help.Output, StringComparison.Ordinal);
        Assert.Equal(ExitCode.Usage, given.Code);
    }

    [Fact]
    public void Password_in_the_environment_does_not_keep_a_plain_store_from_being_served()
    {
        TestConsole console = NewConsole();
        console.Environment["CAIRN_PASSWORD"] = "of another server";

        Assert.Equal(ExitCode.Done, Run(console, "serve", "--check").Code);
    }

    [Theory]
    [InlineData("--memcached *:0", false)]
    [InlineData("--memcached *:0 --memcached-users {users}", false)]
    [InlineData("--resp *:0 --resp-password secret", false)]
    [InlineData("--both *:0 --resp-password secret --memcached-users {users}", false)]
    [InlineData("--memcached *:0 --tls-certificate {certificate}", false)]
    [InlineData("--memcached *:0 --tls-certificate {certificate} --memcached-users {users}", true)]
    [InlineData("--resp *:0 --tls-certificate {certificate} --resp-password secret", true)]
    [InlineData("--resp *:0 --resp-users {resp}", false)]
    [InlineData("--resp *:0 --tls-certificate {certificate} --resp-users {resp}", true)]
    [InlineData("--both *:0 --tls-certificate {certificate} --resp-password secret", false)]
    [InlineData("--memcached *:0 --tls-certificate {certificate} --tls-clients required", true)]
    [InlineData("--memcached *:0 --tls-certificate {certificate} --tls-clients optional", false)]
    [InlineData("--http *:0", false)]
    [InlineData("--http *:0 --tls-certificate {certificate} --resp-password secret", false)]
    [InlineData("--memcached *:0 --http *:0 --insecure", true)]
    public void Address_beyond_loopback_needs_users_and_tls_or_an_explicit_word(string options, bool isAccepted)
    {
        using TcpListener other = Prepare();

        ToolRun run = Serve(other, options + " --check");

        Assert.Equal(isAccepted ? ExitCode.Done : ExitCode.Server, run.Code);
        Assert.Equal(!isAccepted, run.Error.Contains("--insecure", StringComparison.Ordinal));
    }

    // Starts a listener on a port, and writes files that are not stores.
    private TcpListener Prepare()
    {
        File.WriteAllText(PathOf("users"), "user:password\n");
        File.WriteAllText(PathOf("resp"), $"default sha256:{new string('0', 64)} read-write\n");
        File.WriteAllBytes(PathOf("key"), TestBytes.Of(32));
        Directory.CreateDirectory(PathOf("folder"));
        MakePipe(PathOf("pipe"));
        Run("create", "--store", PathOf("encrypted"), "--capacity", "8MiB", "--key-file", PathOf("key"));
        using var key = System.Security.Cryptography.ECDsa.Create();
        var request = new System.Security.Cryptography.X509Certificates.CertificateRequest(
            "CN=localhost", key, System.Security.Cryptography.HashAlgorithmName.SHA256);
        using var certificate = request.CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-1), DateTimeOffset.UtcNow.AddDays(1));
        File.WriteAllText(PathOf("certificate"), certificate.ExportCertificatePem() + "\n" + key.ExportPkcs8PrivateKeyPem());
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return listener;
    }

    // If a start succeeds unexpectedly, the server ends at once.
    private ToolRun Serve(TcpListener? other, string options)
    {
        string filled = options
            .Replace("{taken}", other?.LocalEndpoint.ToString(), StringComparison.Ordinal)
            .Replace("{long}", PathOf(new string('x', 200)), StringComparison.Ordinal);
        filled = Regex.Replace(filled, @"\{(\w+)\}", match => PathOf(match.Groups[1].Value));
        string[] words = filled.Split(' ');
        string[] defaults = [.. new[] { "--memcached", "127.0.0.1:0", "--resp", "off", "--http", "off" }.Chunk(2).Where(pair => !words.Contains(pair[0])).SelectMany(pair => pair)];
        string[] capacity = words.Any(word => word is "--capacity" or "-m" or "--max-capacity") ? [] : ["--capacity", "8MiB"];
        TestConsole console = NewConsole();
        console.Interrupt();
        return Run(console, ["serve", .. defaults, .. capacity, .. words]);
    }

    private string[] FilesHere() =>
        [.. Directory.EnumerateFileSystemEntries(Path.GetDirectoryName(StorePath)!, "*", SearchOption.AllDirectories).Order(StringComparer.Ordinal)];

    private static string LastLine(ToolRun run) => run.Error.Split('\n', StringSplitOptions.RemoveEmptyEntries)[^1];
}
