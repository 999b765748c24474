using System.Text.RegularExpressions;

namespace Cairn.ConventionTests;

/// <summary>What may not stand in any file of the repository.</summary>
public partial class TextTests
{
    private static readonly string[] BinaryExtensions = [".png", ".ico", ".xz", ".gz", ".zst", ".snk", ".jar", ".dll"];

    [Fact]
    public void No_file_names_a_path_or_a_package_registry_of_one_machine()
    {
        var found =
            from file in Repository.Files
            where !BinaryExtensions.Contains(Path.GetExtension(file), StringComparer.Ordinal)
            from line in File.ReadLines(file).Select((text, index) => (text, number: index + 1))
            let match = OneMachine().Match(line.text)
            where match.Success
            select $"{Repository.Relative(file)}:{line.number}: {match.Value}";

        Assert.Empty(found);
    }

    [Fact]
    public void Suppressed_warning_names_its_reason_beside_it()
    {
        var found =
            from file in Repository.Sources
            let lines = File.ReadAllLines(file)
            from index in Enumerable.Range(0, lines.Length)
            where lines[index].TrimStart().StartsWith("#pragma warning disable", StringComparison.Ordinal)
            where !lines[index].Contains("//", StringComparison.Ordinal)
            where index == 0 || !lines[index - 1].TrimStart().StartsWith("//", StringComparison.Ordinal)
            select $"{Repository.Relative(file)}:{index + 1}: {lines[index].Trim()}";

        Assert.Empty(found);
    }

    // Not the simulator, whose time is virtual, nor copies of samples. A wait without end is a process that waits to be killed.
    [Fact]
    public void Wait_of_a_test_for_time_to_pass_names_its_reason_beside_it()
    {
        var found =
            from file in Repository.Sources
            let name = Repository.Relative(file)
            where name.StartsWith("tests/", StringComparison.Ordinal)
            where !name.StartsWith("tests/Cairn.Simulation/", StringComparison.Ordinal)
            where !name.StartsWith("tests/Cairn.DocumentTests/Samples/", StringComparison.Ordinal)
            from line in File.ReadLines(file).Select((text, index) => (text, number: index + 1))
            where line.text.Contains("Task.Delay(", StringComparison.Ordinal) || line.text.Contains("Thread.Sleep(", StringComparison.Ordinal)
            where !line.text.Contains("Timeout.Infinite", StringComparison.Ordinal)
            where !line.text.Contains("//", StringComparison.Ordinal) && !line.text.Contains('"', StringComparison.Ordinal)
            select $"{name}:{line.number}: {line.text.Trim()}";

        Assert.Empty(found);
    }

    [Fact]
    public void Commands_of_the_readme_can_be_executed()
    {
        if (OperatingSystem.IsWindows())
        {
            return; // Windows keeps no such bit.
        }

        foreach (var command in (string[])["cairn", "test"])
        {
            Assert.True(File.GetUnixFileMode(Repository.At(command)).HasFlag(UnixFileMode.UserExecute), command);
        }
    }

    [GeneratedRegex(
        @"(?<![\w.~*}-])/(work/|home/\w+/|root/\.)\w|\b[\w-]*\.?(nuget\.org|npmjs\.(org|com)|pypi\.org|pkg\.dev|maven\.org)\b")]
    private static partial Regex OneMachine();
}
