using System.Text.Json;
using System.Text.Json.Serialization;
using Bookshop.Authors;
using Bookshop.Books;
using Bookshop.Operation;
using Bookshop.Settings;

namespace Bookshop;

/// <summary>How everything is written as JSON, worked out while the program is built.</summary>
[JsonSourceGenerationOptions(JsonSerializerDefaults.Web)]
[JsonSerializable(typeof(BookDetails))]
[JsonSerializable(typeof(BookPage))]
[JsonSerializable(typeof(BookInput))]
[JsonSerializable(typeof(AuthorDetails))]
[JsonSerializable(typeof(AuthorInput))]
[JsonSerializable(typeof(BookshopStatistics))]
[JsonSerializable(typeof(SettingInput))]
[JsonSerializable(typeof(IReadOnlyDictionary<string, string>))]
internal sealed partial class BookshopJson : JsonSerializerContext;
