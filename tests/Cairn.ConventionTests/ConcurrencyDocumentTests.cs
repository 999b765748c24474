using System.Text.RegularExpressions;

namespace Cairn.ConventionTests;

/// <summary>docs/concurrency.md names invariants, steps, tests and models that are there.</summary>
public partial class ConcurrencyDocumentTests
{
    private static readonly string Document = File.ReadAllText(Repository.At("docs/concurrency.md"));

    private static readonly Dictionary<string, string> SourcesByName = Repository.Sources
        .GroupBy(path => Path.GetFileName(path)!, StringComparer.Ordinal)
        .ToDictionary(group => group.Key, group => string.Join('\n', group.Select(File.ReadAllText)), StringComparer.Ordinal);

    [Fact]
    public void Every_invariant_that_is_named_stands_at_the_top_of_its_file()
    {
        var named = NamedInvariant().Matches(Document)
            .SelectMany(match => match.Groups.Values.Skip(2).Where(number => number.Success)
                .Select(number => (File: $"{match.Groups[1].Value}.cs", Number: number.Value)))
            .ToList();

        var missing = named.Where(invariant =>
            !SourcesByName.TryGetValue(invariant.File, out var text) || !text.Contains($"//   {invariant.Number}  ", StringComparison.Ordinal));

        Assert.True(named.Count > 30);
        Assert.Empty(missing);
    }

    [Fact]
    public void Every_member_that_is_named_exists()
    {
        var missing = NamedMember().Matches(Document)
            .Select(match => (Type: match.Groups[1].Value, Member: match.Groups[2].Value))
            .Where(named => SourcesByName.Keys.Any(file => IsOf(file, named.Type)))
            .Where(named => !SourcesByName.Any(source => IsOf(source.Key, named.Type) && Regex.IsMatch(source.Value, $@"\b{named.Member}\b")));

        Assert.Empty(missing);
    }

    [Fact]
    public void Every_test_and_model_that_is_named_exists()
    {
        var tests = string.Join('\n', Repository.Sources.Where(path => path.EndsWith("Tests.cs", StringComparison.Ordinal)).Select(File.ReadAllText));

        var missingTests = NamedTests().Matches(Document).Select(match => match.Groups[1].Value)
            .Where(name => !Regex.IsMatch(tests, $@"class {name}\b"));
        var missingModels = NamedModel().Matches(Document).Select(match => match.Groups[1].Value)
            .Where(name => !File.Exists(Repository.At($"docs/models/{name}")));

        Assert.Empty(missingTests);
        Assert.Empty(missingModels);
    }

    [Fact]
    public void Every_step_at_which_a_process_may_die_is_in_the_document()
    {
        var steps = EnumMember().Matches(SourcesByName["ProtocolStep.cs"]).Select(match => match.Groups[1].Value);

        // A reader that dies leaves nothing, and LockTakingOver is a part of LockTakenOver.
        var missing = steps
            .Where(step => !step.StartsWith("Read", StringComparison.Ordinal) && !step.StartsWith("Pin", StringComparison.Ordinal))
            .Where(step => step is not ("None" or "LockTakingOver" or "RecoveryQueuesRebuilt" or "RecoveryBucketChecked"))
            .Where(step => !Document.Contains($"`{step}`", StringComparison.Ordinal));

        Assert.Empty(missing);
    }

    [Fact]
    public void Every_type_with_a_lock_free_access_is_in_the_table_of_the_orders_on_Arm64()
    {
        int start = Document.IndexOf("### On Arm64", StringComparison.Ordinal);
        string table = Document[start..Document.IndexOf("\n## ", start, StringComparison.Ordinal)];
        var types = Repository.Sources.Where(path => Repository.Relative(path).StartsWith("src/", StringComparison.Ordinal) && LockFreeAccess().IsMatch(File.ReadAllText(path)))
            .Select(path => Path.GetFileName(path).Split('.')[0]).Distinct(StringComparer.Ordinal).ToList();

        Assert.True(types.Count > 100);
        Assert.All(types, type => Assert.Contains($"`{type}`", table, StringComparison.Ordinal));
    }

    private static bool IsOf(string file, string type) =>
        file == $"{type}.cs" || (file.StartsWith($"{type}.", StringComparison.Ordinal) && file.EndsWith(".cs", StringComparison.Ordinal));

    [GeneratedRegex(@"\bVolatile\.(Read|Write)|\bInterlocked\.|\bvolatile [^\n]*;")]
    private static partial Regex LockFreeAccess();

    // `Bucket I1`, `SegmentHeader I1`, `I2` and `StoreEngine I2`, `I3`.
    [GeneratedRegex(@"`([\w.]+) ([A-Z]\d)`(?:, `([A-Z]\d)`)?")]
    private static partial Regex NamedInvariant();

    [GeneratedRegex(@"`([A-Z]\w+)\.([A-Z]\w+)`")]
    private static partial Regex NamedMember();

    [GeneratedRegex(@"`(\w+Tests)`")]
    private static partial Regex NamedTests();

    [GeneratedRegex(@"`(\w+\.pml)`")]
    private static partial Regex NamedModel();

    [GeneratedRegex(@"^    (\w+)(?: = 0)?,$", RegexOptions.Multiline)]
    private static partial Regex EnumMember();
}
