namespace Cairn.DocumentTests;

/// <summary>
/// The shell blocks of the pages work when a reader pastes them, in order, into the folder that the page names. README.md has its own tests. A block that cannot
/// run here is in <see cref="Left"/> with the reason.
/// </summary>
public sealed class PageTests
{
    // A server or a page that is started in the foreground would not end. The server starts in the background instead, and stops when clients can connect.
    private const string Tool = """
        #!/bin/bash
        tool() { dotnet "$TOOL" "$@"; }
        if [[ $1 != serve || " $* " == *' --check '* ]]; then
          tool "$@"
          exit
        fi
        tool "$@" -d -P served.pid || exit
        server=$(<served.pid)
        kill "$server" && tail --pid "$server" -f /dev/null

        """;

    // The first line of a block, what is done before it, and what must hold after it.
    private static readonly (string Page, string FirstLine, string Before, string After)[] Pasted =
    [
        ("docs/how-to/backup.md", "cairn backup --store books.cairn /backup/books.backup", "mkdir backup && cairn set --store books.cairn book:42 Dune", ""),
        ("docs/how-to/backup.md", "cairn restore --store books.cairn /backup/books.backup", "rm books.cairn", "[[ $(cairn get --store books.cairn book:42) == Dune ]]"),
        ("docs/how-to/backup.md", "cairn restore --store new.cairn books.cairn.snapshot", "cp backup/books.backup books.cairn.snapshot && rm books.cairn", ""),
        ("docs/how-to/backup.md", "mkdir old && mv books.cairn.* old/", "", "[[ $(cairn get --store books.cairn book:42) == Dune ]]"),
        ("docs/how-to/capacity.md", "cairn serve --store /var/lib/cairn/sessions.cairn --capacity 1536MiB", "mkdir var", ""),
        ("docs/how-to/encryption.md", "head -c 32 /dev/urandom > customers.key && chmod 600 customers.key", "", ""),
        ("docs/how-to/monitoring.md", "cairn serve --http '*:8080' --insecure", "", ""),
        ("docs/how-to/readable-file.md", "cairn file list FileStoreCacheFile.Production.json", "export EDITOR=true; cairn file set FileStoreCacheFile.Production.json greeting Hello", ""),
        ("docs/hybrid-tutorial.md", "dotnet new web -o hybrid-shop", "", "grep -q Cairn.Caching.csproj *.csproj"),
        ("docs/install.md", "dotnet add reference ../cairn/src/Cairn.Caching", "dotnet new console --no-restore", "grep -q Cairn.Caching *.csproj"),
        ("docs/map-tutorial.md", "dotnet new console -o shop", "", "grep -q Cairn.csproj *.csproj"),
        ("docs/operations.md", "./cairn serve                                  # from a clone: builds once, serves on 127.0.0.1:11211 and :6379", "mkdir var etc; echo '{\"capacity\": \"64MiB\"}' >etc/server.json; ln -s \"$(command -v cairn)\" cairn", ""),
        ("docs/operations.md", "cairn backup --store /var/lib/cairn/server.cairn monday.backup", "cairn set --store var/server.cairn book:42 Dune", "[[ $(cairn get --store new.cairn book:42) == Dune ]]"),
        ("docs/operations.md", "cairn export --store /var/lib/cairn/server.cairn | zstd >warm.jsonl.zst", "rm new.cairn", "[[ $(cairn get --store new.cairn book:42) == Dune ]]"),
        ("docs/reference/tool.md", "cairn set --store books.cairn book:42 Dune", "", ""),
        ("docs/reference/tool.md", "title=$(cairn get book:42) || title=$(fetch-title 42 | tee >(cairn set book:42 - --ttl 1h))", "export CAIRN_STORE=titles.cairn; fetch-title() { echo Dune; }; cairn set book:1 Emma", "[[ $title == Dune ]]"),
        ("docs/reference/tool.md", "# Change a value only if it was not changed meanwhile.", "export CAIRN_STORE=books.cairn; cairn set counter 42", "[[ $(cairn get counter) == 43 ]]"),
        ("docs/reference/tool.md", "cairn keys --prefix book: --null | xargs -0 cairn del --", "export CAIRN_STORE=books.cairn", "[[ -z $(cairn keys --prefix book:) ]]"),
        ("docs/reference/tool.md", "cairn file edit FileStoreCacheFile.Production.json", "export EDITOR=true; cairn file set FileStoreCacheFile.Production.json greeting Hello; deploy() { deployed=1; }", "[[ $deployed == 1 ]]"),
        ("src/Cairn.Cli/README.md", "cairn set --store books.cairn book:42 Dune", "", ""),
        ("docs/tutorial.md", "dotnet new console -o bookshop", "", "grep -q Cairn.csproj *.csproj"),
        ("docs/tutorial.md", "../cairn/cairn get --store books.cairn book:42", "cd bookshop; cairn set --store books.cairn book:42 Dune", ""),
        ("docs/tutorial.md", "../cairn/cairn set --store books.cairn book:42 \"Children of Dune\"", "cd bookshop", ""),
        ("docs/tutorial.md", "../cairn/cairn stats --store books.cairn", "cd bookshop", ""),
        ("docs/upgrading.md", "cairn export --store books.cairn >books.jsonl      # the old version", "cairn set --store books.cairn book:42 Dune", "[[ $(cairn get --store new.cairn book:42) == Dune ]]"),
    ];

    private const string Programs = "TutorialTests compiles the programs of this page and runs them in this way";
    private const string Examples = "ExampleTests runs this example";

    private static readonly (string Page, string FirstLine, string Reason)[] Left =
    [
        ("docs/how-to/dashboard.md", "cairn open books.cairn", "it shows the store until Ctrl-C; OpenTests runs it"),
        ("docs/how-to/hit-ratio.md", "cairn trace record cache.example:11211 monday.trace --time 1h", "it records another machine for an hour; TraceTests records servers"),
        ("docs/how-to/hit-ratio.md", "bench/run hitrate --trace monday.trace", "it replays the recorded trace for minutes; the tests of the benchmarks replay traces"),
        ("docs/how-to/kubernetes.md", "kubectl apply -f deploy/kubernetes/cairn.yaml", "it needs a cluster; DeploymentTests checks the manifest"),
        ("docs/hybrid-tutorial.md", "dotnet build", "HybridTutorialTests compiles the program of this page and runs it in this way"),
        ("docs/install.md", "release/build packages", "it takes minutes; the release tests make, install and run the packages"),
        ("src/Cairn.Cli/README.md", "dotnet tool install --global Cairn.Tool --prerelease", "the package is not published; the release tests install it and start the server"),
        ("docs/models/README.md", "docs/models/check                       # everything: about two minutes on one core, less than 1 GB", "it takes minutes; ProtocolModelTests runs the short form"),
        ("docs/tutorial.md", "dotnet run", Programs),
        ("docs/tutorial.md", "dotnet build", Programs),
        ("docs/tutorial.md", "dotnet run --no-build -- sell Ada", Programs),
        ("docs/tutorial.md", "dotnet run --no-build -- sell Ben", Programs),
        ("docs/tutorial.md", "dotnet run --no-build -- watch", Programs),
        ("samples/RedisCluster/README.md", "dotnet run --project samples/RedisCluster -- process", Examples),
        ("samples/RedisCluster/README.md", "dotnet run --project samples/RedisCluster -- file /tmp/shop.cairn", Examples),
        ("samples/RedisCluster/README.md", "samples/RedisCluster/run", Examples),
        ("samples/ReplaceMemcached/README.md", "samples/ReplaceMemcached/run", Examples),
        ("samples/SharedCache/README.md", "echo \"dune 9.50\" | dotnet run --project samples/SharedCache/Producer -- /tmp/prices.cairn", Examples),
    ];

    // Only root may write to these folders, and the sizes would take the disk of the test machine.
    private static readonly (string Written, string Here)[] Replaced =
        [("/var/lib/cairn/", "var/"), ("/etc/cairn/", "etc/"), ("/backup/", "backup/"), ("1536MiB", "64MiB"), ("8GiB", "64MiB"), ("1GiB", "64MiB")];

    private static readonly string[] Pages = [.. Sample.Documents.Select(file => Path.GetRelativePath(RepositoryFile.Root, file)).Where(page => page != "README.md")];

    [RequiresNamespacesFact("git", "bash", "jq", "zstd")]
    public async Task Every_shell_block_of_the_pages_can_be_pasted()
    {
        using var shell = new CleanShell();
        await shell.CloneAsync();
        string tools = shell.CreateFolder("tools");
        await File.WriteAllTextAsync(Path.Combine(tools, "cairn"), Tool.Replace("$TOOL", RepositoryFile.At("src/Cairn.Cli/bin/Release/net10.0/Cairn.Cli.dll"), StringComparison.Ordinal));
        if (!OperatingSystem.IsWindows())
        {
            File.SetUnixFileMode(Path.Combine(tools, "cairn"), UnixFileMode.UserRead | UnixFileMode.UserExecute);
        }

        foreach (string page in Pasted.Select(block => block.Page).Distinct())
        {
            string folder = page.EndsWith("tutorial.md", StringComparison.Ordinal) ? shell.Beside : shell.CreateFolder(page.Replace('/', '-'));
            foreach (ShellBlock block in BlocksOf(page))
            {
                if (Pasted.FirstOrDefault(pasted => pasted.Page == page && pasted.FirstLine == FirstLineOf(block)) is not { Page: not null } step)
                {
                    continue;
                }

                string script = Replaced.Aggregate(block.Script, (text, place) => text.Replace(place.Written, place.Here, StringComparison.Ordinal));
                if (block.Output.Count > 0)
                {
                    // cairn get ends a value with a line end on a terminal only.
                    script = script.Replace("\n", "\necho\n", StringComparison.Ordinal);
                }

                ProgramRun run = await shell.PasteAsync(folder, $"set -e\n{step.Before}\n{script}\n{step.After}\n", tools);

                Assert.True(run.ExitCode == 0 && block.IsShownBy(run.Output), $"{page}:{block.Line} ended with {run.ExitCode} and printed:\n{run.Everything}");
            }
        }
    }

    [Fact]
    public void Every_shell_block_is_pasted_or_has_a_reason_why_not()
    {
        (string Page, string FirstLine)[] known = [.. Pasted.Select(block => (block.Page, block.FirstLine)), .. Left.Select(block => (block.Page, block.FirstLine))];

        (string Page, string FirstLine)[] written = [.. Pages.SelectMany(page => BlocksOf(page).Select(block => (page, FirstLineOf(block))))];

        Assert.Equal(known.Order(), written.Distinct().Order());
    }

    private static IEnumerable<ShellBlock> BlocksOf(string page) => ShellBlock.Read(File.ReadAllLines(RepositoryFile.At(page)));

    private static string FirstLineOf(ShellBlock block) => block.Script[..block.Script.IndexOf('\n', StringComparison.Ordinal)];
}
