using Cairn.Cli.CacheFiles;
using Cairn.FileStore;

namespace Cairn.Cli.Commands;

/// <summary>Works on the readable files of Cairn.FileStore. The folder CacheFiles has its actions.</summary>
internal sealed class FileCommand : ToolCommand
{
    private static readonly Dictionary<string, Func<CacheFileRequest, int>> Actions = new(StringComparer.Ordinal)
    {
        ["get"] = CacheFileActions.Get,
        ["set"] = CacheFileActions.Set,
        ["del"] = CacheFileActions.Delete,
        ["list"] = CacheFileActions.List,
        ["edit"] = CacheFileEdit.Edit,
        ["verify"] = CacheFileCheck.Verify,
        ["convert"] = CacheFileCheck.Convert,
    };

    private readonly Argument<string> _action = new("ACTION") { Description = "get, set, del, list, edit, verify or convert." };
    private readonly Argument<string> _file = new("FILE") { Description = "The cache file, such as FileStoreCacheFile.Production.json." };

    private readonly Argument<string[]> _words = new("WORD")
    {
        Description = "get: the key. set: key and value, - for standard input. del: the keys.",
        Arity = ArgumentArity.ZeroOrMore,
    };

    private readonly ValueOption<TimeSpan> _timeToLive = ValueOptions.Time("--ttl", "set: expires this long from now: 30s, 5m, 1h30m, 2d.");
    private readonly Flag _isJsonValue = new("--json-value", "set: the value is JSON, and is stored as such.");
    private readonly Flag _base64 = new("--base64", "set: the value is given in Base64, and is stored as bytes. get: print the value in Base64.");
    private readonly Flag _all = new("--all", "del: remove everything, also from a file that is not valid.");

    public FileCommand()
        : base("file", "Reads, changes, checks and converts readable cache files.")
    {
        Add(_action);
        Add(_file);
        Add(_words);
        Add(_timeToLive);
        Add(_isJsonValue);
        Add(_base64);
        Add(_all);
    }

    public override bool UsesStore => false;

    public override string UsageWords => "get|set|del|list|edit|verify|convert FILE [WORD...]";

    public override string Details =>
        "Works while applications use the file. edit opens a copy in the editor of VISUAL or EDITOR and applies the changes key by key: " +
        "changes by others stay. verify only reads. convert rewrites the file without garbage, and turns one of " +
        "Net.DistributedFileStoreCache into one of Cairn, with a backup.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn file list FileStoreCacheFile.Production.json", "Lists keys and values."),
        new("cairn file set FileStoreCacheFile.Production.json greeting Hello --ttl 1h", "Stores a text for one hour."),
        new("cairn file edit FileStoreCacheFile.Production.json", "Edits the file while applications use it."),
        new("cairn file verify FileStoreCacheFile.Production.json", "Reports whether the file is valid, and where it is not."),
    ];

    public override string JsonShape =>
        """get and list, for each entry: {"key", "value" (text, or any JSON) or "valueBase64", "expires"?}; get of no value {"key", "found": false}; set {"key", "status": "stored"}; del {"removed": how many}; edit {"changed": how many}; convert {"entries", "fileBytes"}; verify {"sound": true or false, "entries", "fileBytes", "oldFormat", "torn", "line"?, "column"?, "problem"?}.""";

    public override string MeaningOfNo => "a key had no value";

    public override int Run(Invocation invocation)
    {
        ArgumentNullException.ThrowIfNull(invocation);
        string name = invocation.Get(_action)!;
        if (!Actions.TryGetValue(name, out Func<CacheFileRequest, int>? action))
        {
            throw ToolException.Usage($"there is no 'file {name}'; there are {string.Join(", ", Actions.Keys)}");
        }

        RequireOption(name, invocation.Get(_timeToLive) is not null, "--ttl", "set");
        RequireOption(name, invocation.Get(_isJsonValue), "--json-value", "set");
        RequireOption(name, invocation.Get(_base64), "--base64", "set", "get");
        RequireOption(name, invocation.Get(_all), "--all", "del");
        try
        {
            return action(new CacheFileRequest(invocation, invocation.Get(_file)!, invocation.Get(_words)!)
            {
                TimeToLive = invocation.Get(_timeToLive),
                IsJsonValue = invocation.Get(_isJsonValue),
                IsBase64 = invocation.Get(_base64),
                IsAll = invocation.Get(_all),
            });
        }
        catch (FileStoreFormatException damaged)
        {
            throw new ToolException(ExitCode.Damaged, damaged.Message, damaged);
        }
        catch (DistributedFileStoreCacheException unusable)
        {
            throw new ToolException(ExitCode.Store, unusable.Message, unusable);
        }
    }

    private static void RequireOption(string action, bool isGiven, string option, params string[] actions)
    {
        if (isGiven && !actions.Contains(action, StringComparer.Ordinal))
        {
            throw ToolException.Usage($"{option} belongs to 'file {string.Join("' and 'file ", actions)}', not to 'file {action}'");
        }
    }
}
