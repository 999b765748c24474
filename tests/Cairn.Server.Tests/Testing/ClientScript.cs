using System.Globalization;
using System.Net;

namespace Cairn.Server.Tests.Testing;

/// <summary>
/// A script that uses a client of another project and prints the replies of the server on the given port. With the original server and with
/// Cairn it must print the same, and "done" at the end.
/// </summary>
internal static class ClientScript
{
    // The system's Python, because no other interpreter finds the modules that Debian packages install.
    public const string Python = "/usr/bin/python3";

    // Where Debian's packages put the sources of packages of Go.
    private const string GoPackages = "/usr/share/gocode";

    /// <summary>Runs one script with both servers at the same time and compares the output.</summary>
    /// <param name="file">
    /// The path below the test project, with the extension of the language. <c>with_NAME.c</c> is compiled first, with the library NAME, and a program
    /// in Go with the packages of Debian.
    /// </param>
    /// <param name="stock">The server with the correct replies.</param>
    /// <param name="cairn">The server that must give the same replies.</param>
    /// <param name="arguments">The arguments of the script after the port.</param>
    public static async Task AssertAnswersAlikeAsync(string file, IPEndPoint stock, IPEndPoint cairn, params string[] arguments)
    {
        Func<IPEndPoint, ClientProgram> program = await ProgramAsync(Path.Combine(AppContext.BaseDirectory, file), arguments);

        string[] outputs = await Task.WhenAll(program(stock).RunAsync(), program(cairn).RunAsync());

        Assert.EndsWith("done\n", outputs[0], StringComparison.Ordinal);
        AssertSameLines(outputs[0], outputs[1]);
    }

    /// <summary>Compares the output with two servers and shows the lines that differ.</summary>
    public static void AssertSameLines(string stock, string cairn)
    {
        string[] expected = stock.Split('\n');
        string[] actual = cairn.Split('\n');
        IEnumerable<string> differences =
            from index in Enumerable.Range(0, Math.Max(expected.Length, actual.Length))
            let expectedLine = expected.ElementAtOrDefault(index)
            let actualLine = actual.ElementAtOrDefault(index)
            where expectedLine != actualLine
            select $"line {index + 1}\n  stock: {Shortened(expectedLine)}\n  cairn: {Shortened(actualLine)}";

        Assert.True(stock == cairn, string.Join('\n', differences.Take(20)));
    }

    private static string Shortened(string? line) =>
        line is null ? "(nothing)" : line.Length > 300 ? line[..300] + "…" : line;

    private static async Task<Func<IPEndPoint, ClientProgram>> ProgramAsync(string file, string[] arguments)
    {
        string[] Arguments(IPEndPoint server) => [server.Port.ToString(CultureInfo.InvariantCulture), .. arguments];

        switch (Path.GetExtension(file))
        {
            case ".py":
                // -B: the script's folder must not receive files that Python compiles.
                return server => new ClientProgram(Python, ["-B", file, .. Arguments(server)]);
            case ".rb":
                return server => new ClientProgram("ruby", [file, .. Arguments(server)]);
            case ".php":
                return server => new ClientProgram("php", [file, .. Arguments(server)]);
            case ".pl":
                return server => new ClientProgram("perl", [file, .. Arguments(server)]);
            case ".js":
                string modules = await NodeModules.InstalledAsync(Path.GetDirectoryName(file)!);
                return server => new ClientProgram("node", [file, .. Arguments(server)])
                {
                    Environment = new() { ["NODE_PATH"] = modules },
                };
            case ".c":
                string compiled = Path.ChangeExtension(file, null);
                string library = Path.GetFileName(compiled)["with_".Length..];
                await new ClientProgram("cc", "-O1", "-Wall", "-Werror", "-o", compiled, file, "-l" + library).RunAsync();
                return server => new ClientProgram(compiled, Arguments(server));
            case ".go":
                string built = Path.ChangeExtension(file, null);
                await new ClientProgram("go", "build", "-o", built, file)
                {
                    Environment = new()
                    {
                        ["GO111MODULE"] = "off",
                        ["GOPATH"] = GoPackages,
                        ["GOCACHE"] = Path.Combine(AppContext.BaseDirectory, "go-cache"),
                        ["GOFLAGS"] = "",
                    },
                }.RunAsync();
                return server => new ClientProgram(built, Arguments(server));
            default:
                throw new ArgumentException("No program is known that runs " + file, nameof(file));
        }
    }
}
