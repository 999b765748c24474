using System.Text.RegularExpressions;

namespace Cairn.ConventionTests;

/// <summary>Names of tests that documents have in backticks: sentences with underscores.</summary>
internal static partial class NamedTests
{
    private static readonly Lazy<string[]> s_sources = new(
        () => [.. Directory.EnumerateFiles(Repository.At("tests"), "*Tests.cs", SearchOption.AllDirectories).Select(File.ReadAllText)]);

    /// <summary>The tests that a text names, each once.</summary>
    public static string[] Of(string text) => [.. Name().Matches(text).Select(match => match.Groups[1].Value).Distinct()];

    /// <summary>Those that no test project has.</summary>
    public static string[] Missing(IEnumerable<string> names) =>
        [.. names.Where(name => !s_sources.Value.Any(source => Regex.IsMatch(source, $@"public (async )?(void|Task) {name}\(")))];

    [GeneratedRegex(@"`([A-Z][a-z0-9]*(?:_[a-z0-9]+){2,})`", RegexOptions.IgnoreCase)]
    private static partial Regex Name();
}
