using System.Diagnostics;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Models;

/// <summary>The protocols hold in the models of docs/models, and every model fails when its protocol is broken.</summary>
public class ProtocolModelTests(ITestOutputHelper output)
{
    // The models include this file, which is not a model itself.
    private const string SharedPart = "memory";

    private static readonly string ModelDirectory = Path.Combine(RepositoryFile.Root, "docs", "models");

    public static TheoryData<string> Models =>
        [.. Directory.EnumerateFiles(ModelDirectory, "*.pml").Select(Path.GetFileNameWithoutExtension).OfType<string>().Where(model => model != SharedPart).Order()];

    [RequiresToolTheory("spin", "gcc")]
    [MemberData(nameof(Models))]
    public async Task Spin_verifies_the_protocol_model_and_catches_its_broken_twins(string model)
    {
        // The beginnings of the lines of this model's runs.
        var (exitCode, lines) = await RunCheck($"verify {model} ", $"catch {model} ");

        Assert.True(exitCode == 0, $"docs/models/check ended with {exitCode}:\n{string.Join('\n', lines)}");
        Assert.Contains(lines, line => IsResult(line, "verified", model));
        Assert.Contains(lines, line => IsResult(line, "caught", model));
    }

    private static bool IsResult(string line, string result, string model)
    {
        var words = line.Split(' ', 3, StringSplitOptions.RemoveEmptyEntries);
        return words.Length == 3 && words[0] == result && words[1] == model;
    }

    private async Task<(int ExitCode, IReadOnlyList<string> Lines)> RunCheck(params string[] runs)
    {
        var start = new ProcessStartInfo("bash")
        {
            UseShellExecute = false,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        start.ArgumentList.Add(Path.Combine(ModelDirectory, "check"));
        if (!TortureRun.IsLong)
        {
            start.ArgumentList.Add("--short");
        }

        foreach (var run in runs)
        {
            start.ArgumentList.Add(run);
        }

        using var process = Process.Start(start)!;
        var errors = process.StandardError.ReadToEndAsync();
        var lines = new List<string>();
        while (await process.StandardOutput.ReadLineAsync() is { } line)
        {
            output.WriteLine(line);
            lines.Add(line);
        }

        await process.WaitForExitAsync();
        lines.AddRange((await errors).Split('\n', StringSplitOptions.RemoveEmptyEntries));
        return (process.ExitCode, lines);
    }
}
