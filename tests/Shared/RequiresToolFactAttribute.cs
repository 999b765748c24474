namespace Cairn.Testing;

/// <summary>
/// A fact that runs a program of the machine, such as spin. Without the program the test is skipped with a message, but with CI=true it runs and fails.
/// tests/prerequisites.txt lists the packages that ./test may install.
/// </summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class RequiresToolFactAttribute : FactAttribute
{
    public RequiresToolFactAttribute(params string[] tools)
    {
        Tools = tools;

        var missing = tools.Where(tool => !IsOnPath(tool)).ToList();
        if (missing.Count > 0 && Environment.GetEnvironmentVariable("CI") != "true")
        {
            Skip = $"{string.Join(", ", missing)} not found on the PATH";
        }
    }

    public IReadOnlyList<string> Tools { get; }

    private static bool IsOnPath(string tool) =>
        (Environment.GetEnvironmentVariable("PATH") ?? "")
            .Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
            .Any(directory => File.Exists(Path.Combine(directory, tool)));
}
