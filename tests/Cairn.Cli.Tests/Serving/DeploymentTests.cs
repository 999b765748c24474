namespace Cairn.Cli.Tests.Serving;

/// <summary>The repository's deployment files, checked against the tool that they start.</summary>
public sealed class DeploymentTests : ToolTest
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
    public void Image_wants_to_know_who_may_connect_and_then_serves()
    {
        ToolRun refused = Run(ConsoleOfImage(), "serve", "--check");
        TestConsole console = ConsoleOfImage();
        console.Environment["CAIRN_INSECURE"] = "on";
        ToolRun served = Run(console, "serve", "--check", "--json");

        Assert.Equal(ExitCode.Server, refused.Code);
        Assert.Contains("--insecure", refused.Error, StringComparison.Ordinal);
        Assert.Equal((ExitCode.Done, "*:11211", "*:6379"), (served.Code, served.Json.GetProperty("memcached").GetString(), served.Json.GetProperty("resp").GetString()));
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
}
